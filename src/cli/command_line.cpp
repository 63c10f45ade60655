// SPDX-License-Identifier: LGPL-2.1-or-later
// CLI11 takes seconds to compile, so only this file and strays_command_line.cpp include it.
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
#include "model/set_limit.hpp"

#include <CLI/CLI.hpp>

#include <sstream>

namespace pinfold {
namespace {

constexpr const char* kExamples = "Examples:\n"
                                  "  pinfold list                         list the jobs of this node\n"
                                  "  pinfold status sge.4711              show a job's limits, usage and processes\n"
                                  "  pinfold top                          watch what the jobs use\n"
                                  "  pinfold why sge.4711                 explain how a job ended\n"
                                  "  pinfold history -S -1d --json        show the receipts of the last 24 hours\n"
                                  "  pinfold run --job manual.x --memory-max 1G -- ./job.sh\n";

/// Adds an option whose text has a form of its own. The user sees the error of that form's parser.
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

/// A script's variable that is unset must not select the whole node.
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
    verb->add_flag("--dry-run", line.dryRun, "show what would be done, but do not do it");
}

void addGlobals(CLI::App& app, CommandLine& line) {
    app.add_flag("--json", line.json, "print one JSON document");
    app.add_flag_callback(
        "--no-legend", [&line] { line.legend = false; }, "print no column headers");
    app.add_flag_callback(
        "--no-pager", [&line] { line.terminal.pager = false; }, "do not use a pager");
    app.add_flag("--full", line.terminal.full, "do not cut long lines");
    app.add_flag("--bytes", line.rawBytes, "print sizes in bytes and times in microseconds");
    app.add_option_function<std::string>(
           "--color",
           [&line](const std::string& mode) {
               line.terminal.color = mode == "always" ? ColorMode::Always : mode == "never" ? ColorMode::Never : ColorMode::Auto;
           },
           "use colors: auto, always or never")
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
    verb->add_option("--cpus", request.cpus, "reserve whole cores with at least this many CPUs for the job")->type_name("");
    verb->add_option("--gpus", request.gpus, "reserve this many GPUs for the job")->type_name("");
    for (const auto& [name, member] : {std::pair{"--cpu-list", &request.cpuList}, {"--gpu-list", &request.gpuList}})
        verb->add_option_function<std::string>(
                name,
                [member = member](const std::string& text) {
                    if (auto set = setLimitText(text, *member); !set)
                        throw CLI::ValidationError(set.error().message);
                },
                "reserve these numbers, which the batch system has chosen")
            ->type_name("");
    verb->add_flag("--exclusive", request.exclusive, "reserve all CPUs, and allow no other job on the node");
}

void addRun(CLI::App& app, CommandLine& line) {
    auto* run = app.add_subcommand("run", "run a command as a job; see pinfold-run(1)");
    run->add_option("-j,--job", line.job, "the job's key: <scheduler>.<id>")->type_name("");
    run->add_flag("--exec", line.inPlace, "run the command in place of pinfold-run");
    addAllocation(run, line.allocation);
    addLimits(run, line.limits);
    addDryRun(run, line);
    run->add_option("COMMAND", line.arguments, "the command and its arguments, after --")->type_name("");
}

std::string checkScheduler(const std::string& text) {
    return isSchedulerName(text) ? ""
                                 : "'" + printable(text, 100) + "' is not a scheduler name: use lower case letters and digits";
}

void addKinds(CLI::App* history, CommandLine& line) {
    history->add_option("--result", line.result, "show only jobs with this result")
        ->check(CLI::IsMember(jobResultNames()))
        ->type_name("");
    history->add_option("--scheduler", line.scheduler, "show only jobs of this scheduler (the key up to the dot)")
        ->check(checkScheduler)
        ->type_name("");
    history->add_flag("--failed", line.failed, "show only jobs that did not exit with status 0");
    history->add_flag("--unknown", line.unknown, "show only jobs whose exit status is unknown");
    history->add_flag("--leftovers", line.leftovers, "show only jobs that left processes behind");
}

void addQueries(CLI::App& app, CommandLine& line) {
    auto* list = app.add_subcommand("list", "list live jobs");
    list->add_option("-u,--user", line.user, "show only jobs of this user (name or id)")->type_name("");
    list->add_option("--state", line.state, "show only jobs in this state")
        ->check(CLI::IsMember(shownStateNames()))
        ->type_name("");
    list->add_option("-o,--columns", line.columns, "show these columns, in this order")->delimiter(',')->type_name("");
    list->add_option("--sort", line.sort, "sort by this column")->type_name("");
    auto* status = app.add_subcommand("status", "show the node, or jobs by key or by a process's id");
    addJobs(status, line, false);
    status->add_flag("--jobs", line.withJobs, "show the node, and each live job")->excludes("JOB");
    auto* show = app.add_subcommand("show", "show a job as name=value lines");
    addJobs(show, line);
    show->add_option("-p,--property", line.properties, "show only this property; may be repeated")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("");
    show->add_flag("--value", line.valueOnly, "print only the values");
    addJobs(app.add_subcommand("ps", "list the processes of live jobs"), line);
    addJobs(app.add_subcommand("why", "explain how a job ended, what it used and left behind"), line);
    auto* history = app.add_subcommand("history", "list receipts of ended jobs, newest first");
    history
        ->add_option("-S,--since", line.since,
                     "show only jobs that ended since this time: 2026-11-20, \"2026-11-20 12:00\", -1h, today (UTC)")
        ->type_name("");
    history->add_option("-E,--until", line.until, "show only jobs that ended before this time")->type_name("");
    history->add_option("-u,--user", line.user, "show only jobs of this user (name or id)")->type_name("");
    history->add_option("-j,--job", line.job, "show only receipts of the job with this key")->type_name("");
    history->add_option("-n,--number", line.limit, "show at most this many receipts (default 100)")
        ->check(CLI::Range(1, 10000))
        ->type_name("");
    addKinds(history, line);
    history->add_flag("-P,--parsable", line.parsable, "separate the fields by |");
}

void addReports(CLI::App& app, CommandLine& line) {
    auto* logs = app.add_subcommand("logs", "show the journal's messages about a job");
    addJob(logs, line);
    logs->add_flag("-f,--follow", line.follow, "wait for new messages and show them");
    logs->add_option("-n,--lines", line.lines, "show only this many of the newest messages")->type_name("");
    auto* events = app.add_subcommand("events", "print events of jobs as they happen, until interrupted");
    events
        ->add_option_function<std::vector<std::string>>(
            "--json", [&line](const std::vector<std::string>&) { line.json = true; }, "print one JSON document per line")
        ->expected(0, 1)
        ->check(CLI::IsMember({"lines"}))
        ->type_name("");
}

void addTop(CLI::App& app, CommandLine& line) {
    auto* top = app.add_subcommand("top", "show live jobs and what they use; update the list");
    top->add_option("-s,--sort", line.top.sort, "sort by cpu, memory, io, tasks, time or key (default cpu)")
        ->check(CLI::IsMember(sortNames()))
        ->type_name("");
    top->add_option("-u,--user", line.user, "show only jobs of this user (name or id)")->type_name("");
    top->add_flag("-b,--batch", line.top.batch, "print plain lines (the default when the output is not a terminal)");
    top->add_option("-n,--iterations", line.top.iterations, "show the list this many times, then exit (default: no limit)")
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
           "update after this many seconds, 0.1 to 3600 (default 1)")
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

/// Adds options for prologues, epilogues and batch systems of a site's own.
void addBatchSystem(CLI::App& app, CommandLine& line) {
    auto* open = app.add_subcommand("open", "create a job that has no process yet");
    addJob(open, line);
    open->add_option("--uid", line.user, "the user who owns the job (name or id)")->required()->type_name("");
    open->add_option("--slots", line.slots, "the number of slots that the batch system gave the job")
        ->check(CLI::Range(1, 8192))
        ->type_name("");
    addParsed(open, "--linger", line.linger, parseDuration, "how long the job outlives its last task (default: as configured)");
    addParsed(open, "--report-within", line.reportWithin, parseDuration,
              "how long to wait for `pinfold end` after the batch script's end (default 10s)");
    addAllocation(open, line.allocation);
    addLimits(open, line.limits);
    open->add_flag("--replace", line.replace, "first end an earlier run of the job that is still live");
    open->add_option("--adopt", line.arguments, "move these processes into the job")->type_name("");
    open->add_option("--owner", line.owner, "refuse processes that do not belong to this user (name or id)")->type_name("");
    open->add_flag("--batch", line.batch, "the process is the job's batch script");
    auto* end = app.add_subcommand("end", "end a job: stop its processes, wait until it is over");
    addJob(end, line);
    auto* code = end->add_option("--exit-status", line.exit.status, "report the exit status of the batch script")
                     ->check(CLI::Range(0, 255))
                     ->type_name("");
    addParsed(end, "--exit-signal", line.exit.signal, parseSignal,
              "report the signal that ended the batch script (name or number)")
        ->excludes(code);
    addTimeout(end, line, "exit with status 124 after this time (default 5min)");
    auto* adopt = app.add_subcommand("adopt", "move processes into a job, as a new task");
    addJob(adopt, line);
    adopt->add_option("PID", line.arguments, "the ids of the processes")->required()->type_name("");
    adopt->add_option("--owner", line.owner, "refuse processes that do not belong to this user (name or id)")->type_name("");
    adopt->add_flag("--batch", line.batch, "the process is the batch script of a job that `pinfold open` created");
    addDryRun(adopt, line);
}

void addNode(CLI::App& app, CommandLine& line) {
    auto* drain = app.add_subcommand("drain", "take no new jobs until `pinfold undrain`");
    drain->add_option("--reason", line.reason, "a text for people, at most 500 bytes")->type_name("");
    drain->add_flag("--wait", line.wait, "wait until no job is live");
    addTimeout(drain, line, "with --wait: exit with status 124 after this time (default: never)");
    addDryRun(app.add_subcommand("undrain", "take new jobs again: end the drain"), line);
    addDryRun(app.add_subcommand("reconcile", "repair units, cgroups and records after a crash"), line);
}

void addActions(CLI::App& app, CommandLine& line) {
    auto* stop = app.add_subcommand("stop", "end jobs: SIGTERM, then SIGKILL after the grace time");
    addJobs(stop, line);
    addParsed(stop, "--grace", line.grace, parseDuration, "the time between SIGTERM and SIGKILL (default: as configured)");
    stop->add_flag("--wait", line.wait, "wait until the jobs are over");
    addTimeout(stop, line, "with --wait: exit with status 124 after this time (default 5min)");
    addDryRun(stop, line);
    auto* wait = app.add_subcommand("wait", "wait until jobs are over");
    addJobs(wait, line);
    addTimeout(wait, line, "exit with status 124 after this time (default: never)");
    auto* kill = app.add_subcommand("kill", "send a signal to all processes of jobs");
    addJobs(kill, line);
    kill->add_option("-s,--signal", line.signal, "the signal's name or number (default TERM)")->type_name("");
    addDryRun(kill, line);
    auto* limits = app.add_subcommand("limits", "show the limits of live jobs, or change them");
    addJobs(limits, line);
    addLimits(limits, line.limits);
    limits->add_flag("--force", line.force, "allow a memory-max below what the job uses: the kernel kills it");
    addDryRun(limits, line);
    auto* suspend = app.add_subcommand("suspend", "freeze all processes of jobs");
    addJobs(suspend, line);
    addDryRun(suspend, line);
    auto* resume = app.add_subcommand("resume", "let the processes of suspended jobs continue");
    addJobs(resume, line);
    addDryRun(resume, line);
    auto* vacuum = app.add_subcommand("vacuum", "remove the oldest receipts");
    addParsed(vacuum, "--max-age", line.maxAge, parseDuration,
              "remove receipts that are older than this (default: as configured)");
    addParsed(vacuum, "--max-size", line.maxSize, parseSize,
              "remove the oldest receipts beyond this size (default: as configured)");
    for (const auto& [verb, help] :
         {std::pair{"check-config", "check the configuration"}, {"config", "show what the configuration sets, and where"}})
        app.add_subcommand(verb, help)
            ->add_option("--root", line.root, "a directory that is put before all paths of the configuration")
            ->type_name("");
    app.add_subcommand("reload", "make pinfoldd read its configuration again");
    app.add_subcommand("doctor", "check this node, and say how to fix what is wrong");
    app.add_subcommand("version", "show the versions of pinfold and pinfoldd");
}

/// Returns the words in reverse order, as CLI11 expects them. `kill -9` and `kill -KILL`, which kill(1) takes, become `kill
/// --signal=9`.
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
