# How the tests are parted: at the same time, since most of them wait for a lock, a disk or a process,
# and a test that waits keeps a thread. To be sourced.

# shellcheck disable=SC2034 # used by those who source this
# Options of the test program, one line for each part: together they choose every test once.
test_parts=(
    '--skip ResvalBackupTests'
    '--filter ResvalBackupTests\.[A-E]'
    '--filter ResvalBackupTests\.[F-M]'
    '--filter ResvalBackupTests\.[N-Z]'
)

# What sanitizers look at: all that runs in one process, and commands that go through most of the
# code. The rest would spend the time in other programs. Left out: HostileHomeTests and GitLimitTests/deepIndex
# limit the addresses a program may have, of which a sanitizer takes terabytes, and a sanitizer has a
# setpriority(2) of its own (RunTests/nice).
sanitizer_parts=(
    '--skip (Kill|Crash|HostileHome)Tests --skip GitLimitTests/deepIndex --skip ResvalBackupTests'
    '--filter ResvalBackupTests\.(Evict|Restore|RoundTrip|Run|Settings|Status)Tests --skip RunTests/nice'
)

# What runs where newer system calls are refused: what is done to marks, trees and purged units.
refused_parts=(
    '--filter (SystemCalls|ResourceValues|FileTree|PurgePlanning|Resval)Tests\.'
    '--filter (PurgeExecuting|ResvalPurge)Tests\.'
)

# The tests that kill commands at many moments, or have them fail at each.
kill_parts=(
    '--filter BackupsTests\..*KillTests'
    '--filter PurgeExecutingTests\..*KillTests'
    '--filter ResvalTests\..*KillTests'
    '--filter ResvalBackupTests\.EvictKillTests'
    '--filter ResvalBackupTests\.FaultTests'
    '--filter ResvalBackupTests\.KillTests'
    '--filter ResvalBackupTests\.RunKillTests'
)
