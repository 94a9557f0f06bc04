import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

extension PurgeHome {
    /// Runs a shell script in the home; `$PURGE` is the command, and the log is in `$LOG`.
    func watch(_ script: String, notifying socket: String? = nil) throws -> CommandResult {
        let beginning = """
            set -u
            available() { stat -f -c '%a %S' . | { read -r blocks size; echo $((blocks * size)); }; }
            total() { stat -f -c '%b %S' . | { read -r blocks size; echo $((blocks * size)); }; }
            # Leaves so many percent of the volume.
            leave() { fallocate -l $(($(available) - $(total) * $1 / 100)) fill; }
            until_above() {
                for _ in $(seq 300); do
                    (($(available) * 100 >= $(total) * $1)) && return
                    sleep 0.1
                done
                echo "never above $1 %"
            }
            until_logged() {
                for _ in $(seq 300); do
                    grep --quiet "$1" "$LOG" && return
                    sleep 0.1
                done
                echo "never logged: $1"
            }
            end_watch() {
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
            }

            """
        return try run(
            "/bin/bash", arguments: ["-c", beginning + script],
            environment: [
                "NOTIFY_SOCKET": socket, "PURGE": FilePath.built("resval-purge").string,
                "LOG": self("log").string,
            ])
    }

    var log: String { get throws { try tool("cat", self("log")) } }
}

/// The content of a file of one mebibyte.
let contentOfOneMebibyte = String(repeating: "x", count: 1 << 20)

/// Makes a home on a small filesystem of its own, with caches, documents and a configuration.
func watchedHome(
    configuration: String = "min-age = \"0\"\n", caches: Int = 8
) throws -> PurgeHome {
    try measuredHome {
        File(".config/resval/purge.toml", configuration)
        Directory(".cache/app")
        for index in 0..<caches { File(".cache/app/c\(index)", contentOfOneMebibyte) }
        File("Documents/letter", contentOfOneMebibyte).purgeable()
        File("data/marked", contentOfOneMebibyte).purgeable()
    }
}

/// A configuration by which every small volume is short of space, and items of any age and size may go.
let configurationOfShortage = """
    min-age = "0"
    smallest = "0"
    [thresholds]
    low-percent = 50
    low = "1T"
    critical-percent = 50
    critical = "1T"
    """
