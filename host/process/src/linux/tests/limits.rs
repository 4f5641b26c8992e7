//! How much a program may use of the machine.

use super::*;

/// Starts processes that wait, until none can be started or there are far too many, and prints how it ended.
const FORKS: &str = "python3 -c '
import os, time
for started in range(6000):
    try:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
    except OSError as error:
        print(error.strerror)
        break
else:
    print(\"all started\")
'";

#[tokio::test]
async fn program_that_starts_processes_without_end_gets_an_error() {
    let level = level_of_tests();
    for level in [level, &level.without_pid_limit()] {
        if level.missing().iter().any(|missing| missing.wall == Wall::Processes) {
            let Means { pid_limit, group, .. } = level.means();
            assert!(!pid_limit && !group && rustix::process::geteuid().is_root());
            continue;
        }
        let world = World::new();
        let (ended, text) = world.run_at(FORKS, Some(&world.confinement()), level).await;
        assert_eq!((ended, text.as_str()), (Ended::Code(0), "Resource temporarily unavailable\n"), "{level:?}");
    }
    // The limit is the program's own.
    let machine = fs::read_to_string("/proc/sys/kernel/pid_max").expect("there");
    assert_ne!(machine.trim(), "4096");
}
