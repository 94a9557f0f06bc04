import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// A home on a small filesystem of its own, with caches, documents and a configuration.
private struct WatchedHome {
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

    func exists(_ name: String) -> Bool {
        do throws(Errno) {
            _ = try home.appending(name).withoutFollowing.status()
            return true
        } catch {
            return false
        }
    }
}

private let mebibyte = String(repeating: "x", count: 1 << 20)

private func withWatchedHome(
    configuration: String = "min-age = \"0\"\n", caches: Int = 8,
    _ body: (WatchedHome) throws -> Void
) throws {
    try withFilesystem(.ext4) { filesystem in
        let tree = Tree {
            Directory("home") {
                Directory(".config") { Directory("resval") { File("purge.toml", configuration) } }
                Directory(".cache") {
                    Directory("app") {
                        for index in 0..<caches {
                            File(FileName(Array("c\(index)".utf8)), mebibyte)
                        }
                    }
                }
                Directory("Documents") { File("letter", mebibyte).purgeable() }
                Directory("data") { File("marked", mebibyte).purgeable() }
            }
        }
        try tree.create(in: filesystem.root)
        try body(WatchedHome(home: filesystem.root.appending("home")))
    }
}

@Suite("resval-purge watch")
struct WatchCommandTests {
    @Test("a filling volume is purged of what may go, and of nothing else; SIGTERM ends with 0")
    func filling() throws {
        try withWatchedHome { home in
            let address = "@resval-test-\(UInt64.random(in: 0...(.max)))"
            let listener = try #require(DatagramListener(address))
            let result = try home.run(
                """
                exec 9< .cache/app/c0
                "$PURGE" watch 2> "$LOG" 9<&- & watch=$!
                until_logged 'pressure is normal'
                # Taken while there was room for it.
                stat -c '%s %b' .local/state/resval/purge/journal
                leave 8
                until_above 20
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
                """, notifying: address)
            let log = try home.log
            #expect(result.text == "131072 256\nexit 0\n", "\(result)\n\(log)")
            #expect(listener.next() == "READY=1")
            #expect(listener.next() == "STATUS=\(home.home): normal")
            #expect(listener.next(beginning: "STOPPING") == "STOPPING=1")
            #expect(log.contains("pressure is low"))
            #expect(log.contains("deleted (caches, 1 item, 1.0 MiB)"))
            #expect(log.contains("in-use"))
            // Open, a document, and a mark below no directory that is named.
            for name in [".cache/app/c0", "Documents/letter", "data/marked", "fill"] {
                #expect(home.exists(name), "\(name)")
            }
            #expect(!home.exists(".cache/app/c1"))
            let records = try tool("ls", home.home.appending(".local/state/resval/purge"))
            #expect(records.contains("volume-"))
        }
    }

    @Test("the watchdog hears of a purge that waits for the disk")
    func slowDisk() throws {
        try require(.tool("python3"))
        try require(.tool("fsfreeze"))
        try withWatchedHome { home in
            let address = "@resval-test-\(UInt64.random(in: 0...(.max)))"
            let listen = """
                import socket, sys, time
                s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                s.bind("\\0" + sys.argv[1][1:])
                while True:
                    if s.recv(4096) == b"WATCHDOG=1": print(time.monotonic(), flush=True)
                """
            let result = try home.run(
                """
                times=$(mktemp)
                python3 -c '\(listen)' '\(address)' > "$times" & listener=$!
                sleep 0.5
                WATCHDOG_USEC=400000 "$PURGE" watch 2> "$LOG" & watch=$!
                until_logged 'pressure is normal'
                leave 8
                fsfreeze -f .
                begin=$(wc -l < "$times")
                sleep 4
                heard=$(($(wc -l < "$times") - begin))
                fsfreeze -u .
                until_above 20
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
                kill "$listener"
                rm "$times"
                ((heard >= 10)) || echo "heard $heard times"
                """, notifying: address)
            let log = try home.log
            #expect(result.text == "exit 0\n", "\(result)\n\(log)")
        }
    }

    @Test("where what should go first is in use, something else goes soon")
    func inUse() throws {
        try withWatchedHome { home in
            let result = try home.run(
                """
                exec 10< .cache/app/c0 11< .cache/app/c1 12< .cache/app/c2
                exec 13< .cache/app/c3 14< .cache/app/c4 15< .cache/app/c5
                leave 8
                "$PURGE" watch 2> "$LOG" 10<&- 11<&- 12<&- 13<&- 14<&- 15<&- & watch=$!
                until_above 13
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
                """)
            let log = try home.log
            #expect(result.text == "exit 0\n", "\(result)\n\(log)")
            for index in 0..<8 {
                #expect(home.exists(".cache/app/c\(index)") == (index < 6), "\(index)\n\(log)")
            }
        }
    }

    @Test("marks are acted on below the directories that are named")
    func markRoots() throws {
        let configuration = "min-age = \"0\"\nmark-roots = [\"~/data\"]\n"
        try withWatchedHome(configuration: configuration, caches: 0) { home in
            let result = try home.run(
                """
                leave 8
                "$PURGE" watch --once 2> "$LOG"
                echo "exit $?"
                """)
            let log = try home.log
            #expect(result.text == "exit 0\n", "\(result)\n\(log)")
            #expect(!home.exists("data/marked"))
            #expect(home.exists("Documents/letter"))
        }
    }

    @Test("directories for marks that are protected are told, and nothing in them is deleted")
    func protectedMarkRoots() throws {
        let configuration = "min-age = \"0\"\nmark-roots = [\"~/Documents/drafts\"]\n"
        try withWatchedHome(configuration: configuration, caches: 0) { home in
            try Tree { Directory("drafts") { File("draft", mebibyte).purgeable() } }
                .create(in: home.home.appending("Documents"))
            let result = try home.run(
                """
                leave 3
                "$PURGE" watch --once 2> "$LOG"
                echo "exit $?"
                """)
            let log = try home.log
            #expect(result.text == "exit 1\n", "\(result)\n\(log)")
            #expect(log.contains("Documents/drafts: nothing in it is ever deleted"), "\(log)")
            #expect(home.exists("Documents/drafts/draft"))
        }
    }

    @Test(
        "where the threshold cannot be reached nothing is deleted, and nothing is tried over and over"
    )
    func unreachable() throws {
        try withWatchedHome(caches: 1) { home in
            let result = try home.run(
                """
                leave 6
                "$PURGE" watch --once 2> "$LOG.once"
                echo "exit $?"
                "$PURGE" watch 2> "$LOG" & watch=$!
                until_logged 'nothing is deleted'
                sleep 2.5
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
                """)
            let log = try home.log
            // A mebibyte is 3 % of the volume: 9 % would be left.
            #expect(result.text == "exit 1\nexit 0\n", "\(result)\n\(log)")
            #expect(home.exists(".cache/app/c0"))
            let tries = log.split(separator: "\n").count { $0.contains("nothing is deleted") }
            #expect(tries == 1, "\(log)")
        }
    }

    @Test("at critical a part is better than nothing")
    func critical() throws {
        try withWatchedHome(caches: 1) { home in
            let result = try home.run(
                """
                leave 3
                "$PURGE" watch --once 2> "$LOG"
                echo "exit $?"
                """)
            let log = try home.log
            #expect(result.text == "exit 1\n", "\(result)\n\(log)")
            #expect(!home.exists(".cache/app/c0"))
        }
    }

    @Test("at critical something purgeable that appears after a purge in vain is deleted soon")
    func appearing() throws {
        try withWatchedHome(caches: 0) { home in
            let result = try home.run(
                """
                leave 3
                "$PURGE" watch 2> "$LOG" & watch=$!
                until_logged 'deleted 0 units'
                mv data/marked .cache/found
                for _ in $(seq 150); do [[ -e .cache/found ]] || break; sleep 0.1; done
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
                """)
            let log = try home.log
            #expect(result.text == "exit 0\n", "\(result)\n\(log)")
            #expect(!home.exists(".cache/found"), "\(log)")
        }
    }

    @Test("SIGHUP reads the configuration again, and a wrong one changes nothing")
    func reload() throws {
        try withWatchedHome(configuration: "min-age = \"10h\"\n") { home in
            let address = "@resval-test-\(UInt64.random(in: 0...(.max)))"
            let listener = try #require(DatagramListener(address))
            let result = try home.run(
                """
                "$PURGE" watch 2> "$LOG" & watch=$!
                until_logged 'pressure is normal'
                echo 'min-age = wrong' > .config/resval/purge.toml
                kill -HUP "$watch"
                until_logged 'is not valid TOML'
                leave 8
                until_logged 'nothing is deleted'
                [[ -e .cache/app/c1 ]] || echo 'gone too soon'
                printf 'min-age = "0"\\n[thresholds]\\nlow-percent = 11\\n' \
                    > .config/resval/purge.toml
                kill -HUP "$watch"
                until_above 20
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
                """, notifying: address)
            let log = try home.log
            #expect(result.text == "exit 0\n", "\(result)\n\(log)")
            #expect(log.contains("line 1: is not valid TOML"), "\(log)")
            #expect(listener.next(beginning: "RELOADING=1\nMONOTONIC_USEC=") != nil)
            #expect(listener.next() == "READY=1")
        }
    }

    @Test("a wrong configuration is an error with a line of its own")
    func wrongConfiguration() throws {
        try withWatchedHome(configuration: "\nvolums = []\n", caches: 0) { home in
            let result = try home.run("\"$PURGE\" watch")
            #expect(result.exitCode == 64)
            #expect(result.errorText.contains("purge.toml: line 2: volums is not a setting"))
            let missing = try home.run("\"$PURGE\" watch --config nowhere")
            #expect(missing.exitCode == 2)
        }
    }

    @Test("a directory of the system for caches is refused, at the start and at a reload")
    func systemDirectories() throws {
        let configuration = "caches = [\"/etc\", \"/usr\"]\ntemporary = [\"/var/lib\"]\n"
        try withWatchedHome(configuration: configuration, caches: 0) { home in
            let result = try home.run(
                """
                "$PURGE" watch 2> "$LOG.first"
                echo "exit $?"
                cp .config/resval/purge.toml wrong
                : > .config/resval/purge.toml
                "$PURGE" watch 2> "$LOG" & watch=$!
                until_logged 'pressure is normal'
                cp wrong .config/resval/purge.toml
                kill -HUP "$watch"
                until_logged 'temporary: /var/lib: '
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
                """)
            #expect(result.text == "exit 64\nexit 0\n", "\(result)")
            let first = try tool("cat", home.home.appending("log.first"))
            for complaint in ["caches: /etc: ", "caches: /usr: ", "temporary: /var/lib: "] {
                #expect(first.contains(complaint), "\(first)")
            }
            try #expect(!home.log.contains("has read its configuration again"))
        }
    }

    @Test(
        "a directory that the configuration names and that is not there is told, each time it is read"
    )
    func missingDirectories() throws {
        let configuration = """
            protected = ["~/Wrok"]
            mark-roots = ["~/rednders"]
            caches = ["~/cahce"]
            temporary = ["~/scartch"]

            """
        try withWatchedHome(configuration: configuration, caches: 0) { home in
            let result = try home.run(
                """
                "$PURGE" watch 2> "$LOG" & watch=$!
                until_logged 'pressure is normal'
                kill -HUP "$watch"
                until_logged 'has read its configuration again'
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
                """)
            let log = try home.log
            #expect(result.text == "exit 0\n", "\(result)\n\(log)")
            for complaint in [
                "Wrok: protected: cannot be found", "rednders: mark-roots: cannot be found",
                "cahce: caches: cannot be found", "scartch: temporary: cannot be found",
            ] {
                #expect(log.split(separator: "\n").count { $0.contains(complaint) } == 2, "\(log)")
            }
        }
    }

    @Test("a volume that is not there is told once, and the others are watched")
    func missingVolume() throws {
        let configuration = "min-age = \"0\"\nvolumes = [\"/nonexistent\", \"~\"]\n"
        try withWatchedHome(configuration: configuration) { home in
            let result = try home.run(
                """
                leave 8
                "$PURGE" watch 2> "$LOG" & watch=$!
                until_above 20
                sleep 1.2
                kill -TERM "$watch"
                wait "$watch"
                echo "exit $?"
                """)
            let log = try home.log
            #expect(result.text == "exit 0\n", "\(result)\n\(log)")
            #expect(log.split(separator: "\n").count { $0.contains("cannot be watched") } == 1)
        }
    }

    @Test("inodes that run short are freed, too")
    func inodes() throws {
        try withWatchedHome(caches: 0) { home in
            let result = try home.run(
                """
                free() { stat -f -c %d .; }
                for unit in $(seq 27); do
                    mkdir -p ".cache/many/$unit"
                    seq -f ".cache/many/$unit/%g" 100 | xargs touch
                done
                seq -f 'n%g' $(($(free) - $(stat -f -c %c .) / 12)) | xargs touch
                "$PURGE" watch --once 2> "$LOG"
                echo "exit $?"
                (($(free) * 100 >= $(stat -f -c %c .) * 20)) || echo "only $(free)"
                """)
            let log = try home.log
            #expect(result.text == "exit 0\n", "\(result)\n\(log.suffix(400))")
            #expect(home.exists("n1"))
            #expect(home.exists("Documents/letter"))
        }
    }
}
