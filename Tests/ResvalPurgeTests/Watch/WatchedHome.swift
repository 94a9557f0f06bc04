import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// A home on a small filesystem of its own, with caches, documents and a configuration.
struct WatchedHome {
    let home: FilePath

    /// Runs a shell script in the home; `$WATCH` is the command, and the log is in `$LOG`.
    func run(_ script: String, notifying socket: String? = nil) throws -> CommandResult {
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

            """
        var command = Command("/bin/bash", "-c", beginning + script)
        command.workingDirectory = home
        command.environment = [
            "HOME": home.string, "NOTIFY_SOCKET": socket,
            "PURGE": FilePath.built("resval-purge").string, "LOG": home.appending("log").string,
        ]
        command.timeout = .seconds(120)
        return try command.run()
    }

    var log: String { get throws { try tool("cat", home.appending("log")) } }

    /// The path of something in the home.
    func callAsFunction(_ path: String) -> FilePath { home.appending(path) }
}

/// The content of a file of one mebibyte.
let contentOfOneMebibyte = String(repeating: "x", count: 1 << 20)

func watchedHome(
    configuration: String = "min-age = \"0\"\n", caches: Int = 8
) throws -> WatchedHome {
    let root = try filesystem(.ext4) {
        File("home/.config/resval/purge.toml", configuration)
        Directory("home/.cache/app")
        for index in 0..<caches { File("home/.cache/app/c\(index)", contentOfOneMebibyte) }
        File("home/Documents/letter", contentOfOneMebibyte).purgeable()
        File("home/data/marked", contentOfOneMebibyte).purgeable()
    }.root
    return WatchedHome(home: root.appending("home"))
}
