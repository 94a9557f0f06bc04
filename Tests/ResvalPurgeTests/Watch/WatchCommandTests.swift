import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("resval-purge watch", .cleansUp)
struct WatchCommandTests {
    @Test("a filling volume is purged of what may go, and of nothing else; SIGTERM ends with 0")
    func filling() throws {
        let home = try watchedHome()
        let address = "@resval-test-\(UInt64.random(in: 0...(.max)))"
        let listener = try #require(DatagramListener(address))
        let result = try home.watch(
            """
            exec 9< .cache/app/c0
            "$PURGE" watch 2> "$LOG" 9<&- & watch=$!
            until_logged 'pressure is normal'
            # Taken while there was room for it.
            stat -c '%s %b' .local/state/resval/purge/journal
            leave 8
            until_above 20
            end_watch
            """, notifying: address)
        let log = try home.log
        #expect(result.text == "196608 384\nexit 0\n", "\(result)\n\(log)")
        #expect(listener.next() == "READY=1")
        #expect(listener.next() == "STATUS=\(home.home): normal")
        #expect(listener.next(beginning: "STOPPING") == "STOPPING=1")
        #expect(log.contains("pressure is low"))
        #expect(log.contains("deleted (caches, 1 item, 1.0 MiB)"))
        #expect(log.contains("in-use"))
        // Open, a document, and a mark below no directory that is named.
        for name in [".cache/app/c0", "Documents/letter", "data/marked", "fill"] {
            #expect(home(name).exists, "\(name)")
        }
        #expect(!home(".cache/app/c1").exists)
        let records = try tool("ls", home(".local/state/resval/purge"))
        #expect(records.contains("volume-"))
    }

    @Test("the watchdog hears of a purge that waits for the disk")
    func slowDisk() throws {
        try require(.tool("python3"))
        try require(.tool("fsfreeze"))
        let home = try watchedHome()
        let address = "@resval-test-\(UInt64.random(in: 0...(.max)))"
        let listen = """
            import socket, sys, time
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            s.bind("\\0" + sys.argv[1][1:])
            while True:
                if s.recv(4096) == b"WATCHDOG=1": print(time.monotonic(), flush=True)
            """
        let result = try home.watch(
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
            end_watch
            kill "$listener"
            rm "$times"
            ((heard >= 10)) || echo "heard $heard times"
            """, notifying: address)
        let log = try home.log
        #expect(result.text == "exit 0\n", "\(result)\n\(log)")
    }

    @Test("where what should go first is in use, something else goes soon")
    func inUse() throws {
        let home = try watchedHome()
        let result = try home.watch(
            """
            exec 10< .cache/app/c0 11< .cache/app/c1 12< .cache/app/c2
            exec 13< .cache/app/c3 14< .cache/app/c4 15< .cache/app/c5
            leave 8
            "$PURGE" watch 2> "$LOG" 10<&- 11<&- 12<&- 13<&- 14<&- 15<&- & watch=$!
            until_above 13
            end_watch
            """)
        let log = try home.log
        #expect(result.text == "exit 0\n", "\(result)\n\(log)")
        for index in 0..<8 {
            #expect(home(".cache/app/c\(index)").exists == (index < 6), "\(index)\n\(log)")
        }
    }

    @Test(
        "where the threshold cannot be reached nothing is deleted, and nothing is tried over and over"
    )
    func unreachable() throws {
        let home = try watchedHome(caches: 1)
        let result = try home.watch(
            """
            leave 6
            "$PURGE" watch --once 2> "$LOG.once"
            echo "exit $?"
            "$PURGE" watch 2> "$LOG" & watch=$!
            until_logged 'nothing is deleted'
            sleep 2.5
            end_watch
            """)
        let log = try home.log
        // A contentOfOneMebibyte is 3 % of the volume: 9 % would be left.
        #expect(result.text == "exit 1\nexit 0\n", "\(result)\n\(log)")
        #expect(home(".cache/app/c0").exists)
        let tries = log.split(separator: "\n").count { $0.contains("nothing is deleted") }
        #expect(tries == 1, "\(log)")
    }

    @Test("at critical a part is better than nothing")
    func critical() throws {
        let home = try watchedHome(caches: 1)
        let result = try home.watch(
            """
            mkdir .cache/app/.resval-purge-1
            leave 3
            "$PURGE" watch --once 2> "$LOG"
            echo "exit $?"
            """)
        let log = try home.log
        #expect(log.contains(".resval-purge-1: a purge put it"), "\(log)")
        #expect(result.text == "exit 1\n", "\(result)\n\(log)")
        #expect(!home(".cache/app/c0").exists)
    }

    @Test("at critical what appears after a purge in vain is deleted in a minute")
    func appearing() throws {
        let home = try watchedHome(caches: 0)
        let result = try home.watch(
            """
            leave 3
            "$PURGE" watch 2> "$LOG" & watch=$!
            until_logged 'deleted 0 paths'
            mv data/marked .cache/found
            for _ in $(seq 900); do [[ -e .cache/found ]] || break; sleep 0.1; done
            end_watch
            """)
        let log = try home.log
        #expect(result.text == "exit 0\n", "\(result)\n\(log)")
        #expect(!home(".cache/found").exists, "\(log)")
    }

    @Test("inodes that run short are freed, too")
    func inodes() throws {
        let home = try watchedHome(caches: 0)
        let result = try home.watch(
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
        #expect(home("n1").exists)
        #expect(home("Documents/letter").exists)
    }
}
