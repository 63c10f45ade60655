// SPDX-License-Identifier: LGPL-2.1-or-later
// CLI11 takes seconds to compile: only this file and strays_command_line.cpp have it.
#include "cli/command_line.hpp"

#include "base/error_code.hpp"
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "build_config.hpp"
#include "cli/strays_command_line.hpp"
#include "cli/suggestion.hpp"
#include "cli/top_rows.hpp"
#include "model/job_key.hpp"
#include "model/limit_table.hpp"
#include "model/receipt.hpp"

#include <CLI/CLI.hpp>

#include <sstream>

namespace pinfold {
namespace {

constexpr const char* kExamples = "Examples:\n"
                                  "  pinfold list                         the jobs of this node\n"
                                  "  pinfold status sge.4711              one job: limits, use, processes\n"
                                  "  pinfold top                          who uses what, again and again\n"
                                  "  pinfold why sge.4711                 how a job ended, what it used and left\n"
                                  "  pinfold history -S -1d --json        yesterday's and today's receipts\n"
                                  "  pinfold run --job manual.x --memory-max 1G -- ./job.sh\n";

/// Options whose text has a form of its own: the parser's own error is shown.
template <class T> CLI::Option* addParsed(CLI::App* verb, const std::string& name, std::optional<T>& target,
                                          Result<T> (*parse)(std::string_view), const std::string& help) {
    return verb
        ->add_option_function<std::string>(
            name,
            [&target, parse](const std::string& text) {
                auto value = parse(text);
                if (!value)
                    throw CLI::ValidationError(value.error().message);
                target = std::move(*value);
            },
            help)
        ->type_name("");
}

/// A script's variable that is unset must not mean the node.
std::string checkNotEmpty(const std::string& text) { return text.empty() ? "JOB is empty" : ""; }

void addJob(CLI::App* verb, CommandLine& line) {
    verb->add_option("JOB", line.job, "the job's key")->type_name("")->check(checkNotEmpty)->required();
}

void addJobs(CLI::App* verb, CommandLine& line, bool required = true) {
    auto* option = verb->add_option("JOB", line.jobs, "the jobs' keys")->type_name("")->check(checkNotEmpty);
    if (required)
        option->required();
}

void addDryRun(CLI::App* verb, CommandLine& line) {
    verb->add_flag("--dry-run", line.dryRun, "say what would be done, and do nothing");
}

void addGlobals(CLI::App& app, CommandLine& line) {
    app.add_flag("--json", line.json, "one JSON document");
    app.add_flag_callback(
        "--no-legend", [&line] { line.legend = false; }, "no column headers");
    app.add_flag_callback(
        "--no-pager", [&line] { line.terminal.pager = false; }, "never through a pager");
    app.add_flag("--full", line.terminal.full, "never cut a line");
    app.add_flag("--bytes", line.rawBytes, "sizes in bytes, times in microseconds");
    app.add_option_function<std::string>(
           "--color",
           [&line](const std::string& mode) {
               line.terminal.color = mode == "always" ? ColorMode::Always : mode == "never" ? ColorMode::Never : ColorMode::Auto;
           },
           "auto, always or never")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->type_name("");
}

void addLimits(CLI::App* verb, ResourceLimits& limits) {
    for (const auto& row : limitTable())
        verb->add_option_function<std::string>(
                limitOption(row.name),
                [&limits, name = row.name](const std::string& text) {
                    if (auto set = setLimit(limits, name, text); !set)
                        throw CLI::ValidationError(set.error().message);
                },
                row.help)
            ->type_name("");
}

void addAllocation(CLI::App* verb, AllocationRequest& request) {
    verb->add_option("--cpus", request.cpus, "whole cores for so many CPUs, for the job alone")->type_name("");
    verb->add_option("--gpus", request.gpus, "so many GPUs, for the job alone")->type_name("");
    for (const auto& [name, member] : {std::pair{"--cpu-list", &request.cpuList}, {"--gpu-list", &request.gpuList}})
        verb->add_option_function<std::string>(
                name,
                [member = member](const std::string& text) {
                    if (auto set = setLimitText(text, *member); !set)
                        throw CLI::ValidationError(set.error().message);
                },
                "as the batch system chose them")
            ->type_name("");
    verb->add_flag("--exclusive", request.exclusive, "all CPUs, and no other job on the node");
}

void addRun(CLI::App& app, CommandLine& line) {
    auto* run = app.add_subcommand("run", "run a command as a job, see pinfold-run(1)");
    run->add_option("-j,--job", line.job, "key, <scheduler>.<id>")->type_name("");
    run->add_flag("--exec", line.inPlace, "become the job in place");
    addAllocation(run, line.allocation);
    addLimits(run, line.limits);
    addDryRun(run, line);
    run->add_option("COMMAND", line.arguments, "the command and its arguments, after --")->type_name("");
}

std::string checkScheduler(const std::string& text) {
    return isSchedulerName(text) ? "" : "'" + printable(text, 100) + "' is no scheduler: use lower case letters and digits";
}

void addKinds(CLI::App* history, CommandLine& line) {
    history->add_option("--result", line.result, "that ended so")->check(CLI::IsMember(jobResultNames()))->type_name("");
    history->add_option("--scheduler", line.scheduler, "whose key begins so, before the dot")
        ->check(checkScheduler)
        ->type_name("");
    history->add_flag("--failed", line.failed, "only jobs that did not exit with status 0");
    history->add_flag("--unknown", line.unknown, "only jobs whose exit status nobody has reported");
    history->add_flag("--leftovers", line.leftovers, "that left processes behind");
}

void addQueries(CLI::App& app, CommandLine& line) {
    auto* list = app.add_subcommand("list", "live jobs");
    list->add_option("-u,--user", line.user, "of this user (name or id)")->type_name("");
    list->add_option("--state", line.state, "in this state")
        ->check(CLI::IsMember({"creating", "running", "suspended", "ending", "accounting"}))
        ->type_name("");
    list->add_option("-o,--columns", line.columns, "columns, in this order")->delimiter(',')->type_name("");
    list->add_option("--sort", line.sort, "column to sort by")->type_name("");
    auto* status = app.add_subcommand("status", "the node, or jobs by their keys or one of their pids");
    addJobs(status, line, false);
    status->add_flag("--jobs", line.withJobs, "the node, and each live job")->excludes("JOB");
    auto* show = app.add_subcommand("show", "a job as name=value lines");
    addJobs(show, line);
    show->add_option("-p,--property", line.properties, "only this one; may be repeated")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("");
    show->add_flag("--value", line.valueOnly, "values only");
    addJob(app.add_subcommand("ps", "a job's processes"), line);
    addJobs(app.add_subcommand("why", "how a job ended, what it used and left behind"), line);
    auto* history = app.add_subcommand("history", "receipts of jobs that are over, newest first");
    history->add_option("-S,--since", line.since, "ended since: 2026-11-20, \"2026-11-20 12:00\", -1h, today (UTC)")
        ->type_name("");
    history->add_option("-E,--until", line.until, "ended before")->type_name("");
    history->add_option("-u,--user", line.user, "of this user (name or id)")->type_name("");
    history->add_option("-j,--job", line.job, "of this job")->type_name("");
    history->add_option("-n,--number", line.limit, "at most so many, default 100")->check(CLI::Range(1, 10000))->type_name("");
    addKinds(history, line);
    history->add_flag("-P,--parsable", line.parsable, "fields with | between");
}

void addReports(CLI::App& app, CommandLine& line) {
    auto* logs = app.add_subcommand("logs", "what the journal has about a job");
    addJob(logs, line);
    logs->add_flag("-f,--follow", line.follow, "wait for more");
    logs->add_option("-n,--lines", line.lines, "the last ones only, so many")->type_name("");
    auto* events = app.add_subcommand("events", "what happens to jobs, as it happens, until interrupted");
    events
        ->add_option_function<std::vector<std::string>>(
            "--json", [&line](const std::vector<std::string>&) { line.json = true; }, "a JSON document in each line")
        ->expected(0, 1)
        ->check(CLI::IsMember({"lines"}))
        ->type_name("");
}

void addTop(CLI::App& app, CommandLine& line) {
    auto* top = app.add_subcommand("top", "live jobs and what they use, again and again");
    top->add_option("-s,--sort", line.top.sort, "cpu, memory, io, tasks, time or key; default cpu")
        ->check(CLI::IsMember(sortNames()))
        ->type_name("");
    top->add_option("-u,--user", line.user, "of this user (name or id)")->type_name("");
    top->add_flag("-b,--batch", line.top.batch, "plain lines; so it is too when piped");
    top->add_option("-n,--iterations", line.top.iterations, "so many times, default: without end")
        ->check(CLI::Range(1, 1'000'000'000))
        ->type_name("");
    top->add_option_function<std::string>(
           "-d,--delay",
           [&line](const std::string& text) {
               const auto value = parseDuration(text);
               if (!value || *value < TopOptions::kLeastDelay || *value > TopOptions::kMostDelay)
                   throw CLI::ValidationError("delay '" + text + "' is not valid: use 0.1 to 3600 seconds");
               line.top.delay = *value;
           },
           "seconds between two looks, 0.1 to 3600, default 1")
        ->type_name("");
}

void addTimeout(CLI::App* verb, CommandLine& line, const char* help) {
    verb->add_option_function<std::string>(
            "--timeout",
            [&line](const std::string& text) {
                const auto value = parseDuration(text);
                if (!value)
                    throw CLI::ValidationError(value.error().message);
                line.timeout = *value;
            },
            help)
        ->type_name("");
}

/// For prologues, epilogues and batch systems of a site's own.
void addBatchSystem(CLI::App& app, CommandLine& line) {
    auto* open = app.add_subcommand("open", "open a job before there is a process of it");
    addJob(open, line);
    open->add_option("--uid", line.user, "its owner (name or id)")->required()->type_name("");
    open->add_option("--slots", line.slots, "what the batch system counts it as")->check(CLI::Range(1, 8192))->type_name("");
    addParsed(open, "--linger", line.linger, parseDuration, "how long it outlives its last task; default: the site's");
    addParsed(open, "--report-within", line.reportWithin, parseDuration,
              "how long after its batch script's end pinfold waits for `pinfold end`; default 10s");
    addAllocation(open, line.allocation);
    addLimits(open, line.limits);
    open->add_flag("--replace", line.replace, "first end a former run of the job, if one is left");
    open->add_option("--adopt", line.arguments, "take these processes into the job")->type_name("");
    open->add_option("--owner", line.owner, "refuse processes of other users (name or id)")->type_name("");
    open->add_flag("--batch", line.batch, "the one process is its batch script");
    auto* end = app.add_subcommand("end", "a job is over: stop what is left, and wait");
    addJob(end, line);
    auto* code =
        end->add_option("--exit-status", line.exit.status, "of its batch script")->check(CLI::Range(0, 255))->type_name("");
    addParsed(end, "--exit-signal", line.exit.signal, parseSignal, "that ended its batch script, name or number")->excludes(code);
    addTimeout(end, line, "exit status 124 after this, default 5min");
    auto* adopt = app.add_subcommand("adopt", "take processes into a job as a further task");
    addJob(adopt, line);
    adopt->add_option("PID", line.arguments, "process ids")->required()->type_name("");
    adopt->add_option("--owner", line.owner, "refuse processes of other users (name or id)")->type_name("");
    adopt->add_flag("--batch", line.batch, "the one process is the batch script of a job that was opened");
    addDryRun(adopt, line);
}

void addNode(CLI::App& app, CommandLine& line) {
    auto* drain = app.add_subcommand("drain", "take no new jobs, until undrain");
    drain->add_option("--reason", line.reason, "for people, at most 500 bytes")->type_name("");
    drain->add_flag("--wait", line.wait, "until no job is live");
    addTimeout(drain, line, "with --wait: exit status 124 after this, default: never");
    addDryRun(app.add_subcommand("undrain", "take new jobs again"), line);
    addDryRun(app.add_subcommand("reconcile", "put units and records in order"), line);
}

void addActions(CLI::App& app, CommandLine& line) {
    auto* stop = app.add_subcommand("stop", "end jobs: SIGTERM, the grace time, SIGKILL");
    addJobs(stop, line);
    addParsed(stop, "--grace", line.grace, parseDuration, "between SIGTERM and SIGKILL; default: the site's");
    stop->add_flag("--wait", line.wait, "until nothing of it is left");
    addTimeout(stop, line, "with --wait: exit status 124 after this, default 5min");
    addDryRun(stop, line);
    auto* wait = app.add_subcommand("wait", "wait until jobs are over");
    addJobs(wait, line);
    addTimeout(wait, line, "exit status 124 after this, default: never");
    auto* kill = app.add_subcommand("kill", "send a signal to every process of jobs");
    addJobs(kill, line);
    kill->add_option("-s,--signal", line.signal, "name or number, default TERM")->type_name("");
    addDryRun(kill, line);
    auto* limits = app.add_subcommand("limits", "show a job's limits, or change them as it runs");
    addJobs(limits, line);
    addLimits(limits, line.limits);
    limits->add_flag("--force", line.force, "lower memory-max also below what the job holds: kills");
    addDryRun(limits, line);
    auto* suspend = app.add_subcommand("suspend", "freeze all processes of jobs");
    addJobs(suspend, line);
    addDryRun(suspend, line);
    auto* resume = app.add_subcommand("resume", "let the processes of suspended jobs run on");
    addJobs(resume, line);
    addDryRun(resume, line);
    auto* vacuum = app.add_subcommand("vacuum", "remove the oldest receipts");
    addParsed(vacuum, "--max-age", line.maxAge, parseDuration, "keep what ended since then; default: the site's");
    addParsed(vacuum, "--max-size", line.maxSize, parseSize, "keep so much; default: the site's");
    for (const auto& [verb, help] :
         {std::pair{"check-config", "is the configuration right?"}, {"config", "what the configuration sets, and in which file"}})
        app.add_subcommand(verb, help)->add_option("--root", line.root, "prefix of its paths")->type_name("");
    app.add_subcommand("reload", "read the configuration again");
    app.add_subcommand("doctor", "what is wrong with this node, and the remedy");
    app.add_subcommand("version", "of pinfold, and of the pinfoldd that runs");
}

/// In the reverse order, as CLI11 takes them. `kill -9` and `kill -KILL`, as kill(1) has them, become `kill --signal=9`.
std::vector<std::string> wordsOf(int argc, char** argv) {
    const bool kills = firstWord(argc, argv) == "kill";
    std::vector<std::string> words;
    for (int i = argc - 1; i > 0; --i) {
        const std::string word = argv[i];
        const bool isSignal = kills && word.size() > 1 && word[0] == '-' && parseSignal(word.substr(1));
        words.push_back(isSignal ? "--signal=" + word.substr(1) : word);
    }
    return words;
}

std::string oneLine(const CLI::ParseError& error) {
    const auto text = printable(error.what(), 500);
    return "pinfold: " + text + "; see pinfold --help\n";
}

} // namespace

std::variant<CommandLine, EarlyExit> parseCommandLine(int argc, char** argv) {
    CommandLine line;
    CLI::App app{std::string("pinfold shows and manages the batch jobs of this node.\n\n") + kExamples};
    app.name("pinfold")->fallthrough()->require_subcommand(1);
    app.get_formatter()->column_width(26);
    app.set_version_flag("--version", "pinfold " PINFOLD_VERSION);
    addGlobals(app, line);
    addRun(app, line);
    addQueries(app, line);
    addTop(app, line);
    addReports(app, line);
    addStrays(app, line);
    addActions(app, line);
    addNode(app, line);
    addBatchSystem(app, line);
    if (argc < 2)
        return EarlyExit{static_cast<int>(ExitStatus::Usage), app.help()};
    try {
        app.parse(wordsOf(argc, argv));
    } catch (const CLI::CallForVersion& version) {
        return EarlyExit{0, std::string(version.what()) + "\n"};
    } catch (const CLI::CallForHelp&) {
        const auto chosen = app.get_subcommands();
        return EarlyExit{0, chosen.empty() ? app.help() : chosen.front()->help()};
    } catch (const CLI::ParseError& error) {
        std::vector<std::string> verbs;
        for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
            verbs.push_back(verb->get_name());
        const auto wanted = firstWord(argc, argv);
        if (app.get_subcommands().empty() && !wanted.empty())
            return EarlyExit{static_cast<int>(ExitStatus::Usage), "pinfold: unknown command '" + printable(wanted, 100) + "'" +
                                                                      suggestion(wanted, verbs) + "; see pinfold --help\n"};
        return EarlyExit{static_cast<int>(ExitStatus::Usage), oneLine(error)};
    }
    line.verb = app.get_subcommands().front()->get_name();
    return line;
}

} // namespace pinfold
