// scheduler KEY USER COMMAND [ARGS...]: run a job in its own scope. If the exit status is 99, nothing has run: requeue the job.
// g++ -std=c++20 -o scheduler scheduler.cpp -lsystemd
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: scheduler KEY USER COMMAND [ARGS...]\n");
        return 2;
    }
    const char* key = argv[1];
    const passwd* owner = getpwnam(argv[2]);
    if (!owner) {
        std::fprintf(stderr, "there is no user '%s'\n", argv[2]);
        return 2;
    }
    int word[2];
    if (pipe2(word, O_CLOEXEC) != 0)
        return 99;
    const pid_t job = fork();
    if (job == 0) { // this process becomes the job: it waits until pinfoldd has moved it into the job's scope
        char go = 0;
        close(word[1]);
        if (read(word[0], &go, 1) != 1 || setsid() < 0 || initgroups(owner->pw_name, owner->pw_gid) != 0 ||
            setgid(owner->pw_gid) != 0 || setuid(owner->pw_uid) != 0)
            _exit(99);
        execvp(argv[3], argv + 3);
        _exit(127);
    }

    sd_bus* bus = nullptr;
    sd_bus_error error{};
    const auto call = [&](const char* method, sd_bus_message** reply, const char* types, auto... arguments) {
        return sd_bus_call_method(bus, "org.pinfold1", "/org/pinfold1", "org.pinfold1.Manager", method, &error, reply, types,
                                  arguments...);
    };
    if (sd_bus_open_system(&bus) < 0 || sd_bus_set_method_call_timeout(bus, 600'000'000) < 0 ||
        call("CreateJob", nullptr, "sha{sv}", key, static_cast<int>(syscall(SYS_pidfd_open, job, 0)), 3, "uid", "u",
             owner->pw_uid, "memory_max", "t", std::uint64_t{256} << 20, "report_within", "t", std::uint64_t{10'000'000}) < 0) {
        std::fprintf(stderr, "%s\n", error.message ? error.message : "no bus");
        close(word[1]); // end the waiting process: if pinfoldd has created the job nevertheless, the job ends, too
        waitpid(job, nullptr, 0);
        return 99;
    }

    int status = 0;
    if (write(word[1], "g", 1) != 1 || waitpid(job, &status, 0) != job)
        return 99;
    const bool exited = WIFEXITED(status);
    const int number = exited ? WEXITSTATUS(status) : WTERMSIG(status);
    if (call("EndJob", nullptr, "sa{sv}", key, 2, "leader", "u", job, exited ? "exit_status" : "exit_signal", "i", number) < 0)
        std::fprintf(stderr, "%s\n", error.message); // without an error, no process of the job is left
    return exited ? number : 128 + number;
}
