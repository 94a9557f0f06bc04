import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("The configuration of resval-purge watch", .cleansUp)
struct WatchConfigurationTests {
    @Test("a changed configuration counts after a restart, and SIGHUP ends the watch before")
    func restart() throws {
        let home = try watchedHome(configuration: "min-age = \"10h\"\n")
        let result = try home.watch(
            """
            "$PURGE" watch 2> "$LOG" & watch=$!
            until_logged 'pressure is normal'
            leave 8
            until_logged 'nothing is deleted'
            printf 'min-age = "0"\\n[thresholds]\\nlow-percent = 11\\n' \
                > .config/resval/purge.toml
            kill -HUP "$watch"
            wait "$watch"
            echo "exit $?"
            [[ -e .cache/app/c1 ]] || echo 'gone too soon'
            "$PURGE" watch 2> "$LOG" & watch=$!
            until_above 20
            end_watch
            """)
        let log = try home.log
        #expect(result.text == "exit 129\nexit 0\n", "\(result)\n\(log)")
    }

    @Test("a wrong configuration is an error with a line of its own")
    func wrongConfiguration() throws {
        let home = try watchedHome(configuration: "\nvolums = []\n", caches: 0)
        try home.watch("\"$PURGE\" watch").expect(
            exits: 64, says: "purge.toml: line 2: volums is not a setting")
        try home.watch("\"$PURGE\" watch --config nowhere").expect(exits: 2)
    }

    @Test("a directory of the system for caches is refused")
    func systemDirectories() throws {
        let configuration = "caches = [\"/etc\", \"/usr\"]\ntemporary = [\"/var/lib\"]\n"
        let home = try watchedHome(configuration: configuration, caches: 0)
        let result = try home.watch(
            """
            "$PURGE" watch 2> "$LOG"
            echo "exit $?"
            """)
        #expect(result.text == "exit 64\n", "\(result)")
        let log = try home.log
        for complaint in ["caches: /etc: ", "caches: /usr: ", "temporary: /var/lib: "] {
            #expect(log.contains(complaint), "\(log)")
        }
    }

    @Test("a missing directory in the configuration is reported once")
    func missingDirectories() throws {
        let configuration = """
            protected = ["~/Wrok"]
            mark-roots = ["~/rednders"]
            caches = ["~/cahce"]
            temporary = ["~/scartch"]

            """
        let home = try watchedHome(configuration: configuration, caches: 0)
        let result = try home.watch(
            """
            "$PURGE" watch 2> "$LOG" & watch=$!
            until_logged 'pressure is normal'
            end_watch
            """)
        let log = try home.log
        #expect(result.text == "exit 0\n", "\(result)\n\(log)")
        for complaint in [
            "Wrok: protected: cannot be found", "rednders: mark-roots: cannot be found",
            "cahce: caches: cannot be found", "scartch: temporary: cannot be found",
        ] {
            #expect(log.split(separator: "\n").count { $0.contains(complaint) } == 1, "\(log)")
        }
    }

    @Test("a missing volume is reported once, and the others are watched")
    func missingVolume() throws {
        let configuration = "min-age = \"0\"\nvolumes = [\"/nonexistent\", \"~\"]\n"
        let home = try watchedHome(configuration: configuration)
        let result = try home.watch(
            """
            leave 8
            "$PURGE" watch 2> "$LOG" & watch=$!
            until_above 20
            sleep 1.2
            end_watch
            """)
        let log = try home.log
        #expect(result.text == "exit 0\n", "\(result)\n\(log)")
        #expect(log.split(separator: "\n").count { $0.contains("cannot be watched") } == 1)
    }

    @Test("a volume that was unmounted is an error, and the one below it is not taken for it")
    func unmounted() throws {
        let configuration = "min-age = \"0\"\nvolumes = [\"~/disk\"]\n"
        let home = try watchedHome(configuration: configuration)
        let address = "@resval-test-\(UInt64.random(in: 0...(.max)))"
        let listener = try #require(DatagramListener(address))
        let result = try home.watch(
            """
            mkdir disk
            mount -t tmpfs -o size=1m none disk
            "$PURGE" watch 2> "$LOG" & watch=$!
            until_logged 'pressure is normal'
            umount disk
            leave 8
            until_logged 'is not mounted'
            sleep 1.2
            end_watch
            """, notifying: address)
        let log = try home.log
        #expect(result.text == "exit 0\n", "\(result)\n\(log)")
        let complaint =
            "\(home.home)/disk: cannot be watched: \(home.home)/disk is not mounted, so what is "
            + "there is on another volume (mount it, or take it out of volumes)"
        #expect(log.hasSuffix(complaint), "\(log)")
        #expect(home(".cache/app/c0").exists)
        #expect(listener.next(beginning: "STATUS=\(home.home)/disk: cannot be watched") != nil)
    }

    @Test("a volume of fstab that is not mounted is an error when watching begins")
    func notMounted() throws {
        let configuration = "min-age = \"0\"\nvolumes = [\"~/my disk/data\"]\n"
        let home = try watchedHome(configuration: configuration)
        let result = try home.watch(
            """
            mkdir -p 'my disk/data'
            leave 8
            printf '# disk\n/dev/sda1 %s\\\\040disk ext4 defaults 0 0\n' "$HOME/my" > fstab
            unshare --mount bash -c '
                mount --bind fstab /etc/fstab
                "$PURGE" watch --once 2> "$LOG"
                echo "exit $?"
                mount -t tmpfs -o size=1m none "my disk"
                mkdir "my disk/data"
                "$PURGE" watch --once
                echo "exit $?"'
            """)
        let log = try home.log
        #expect(result.text == "exit 2\nexit 0\n", "\(result)\n\(log)")
        #expect(log.contains("/my disk is not mounted"), "\(log)")
        #expect(home(".cache/app/c0").exists)
    }

    @Test("marks that plan acts on and watch does not are told once, with how to go on")
    func marksInData() throws {
        let home = try watchedHome(caches: 0)
        try Tree {
            File(".local/share/marked", contentOfOneMebibyte).purgeable()
        }.create(in: home.home)
        let result = try home.watch(
            """
            "$PURGE" plan --free 1M --min-age 0
            leave 3
            "$PURGE" watch --once 2> "$LOG"
            echo "exit $?"
            echo 'mark-roots = ["~/.local/share"]' >> .config/resval/purge.toml
            "$PURGE" watch --once 2> "$LOG.named"
            """)
        let log = try home.log
        #expect(result.text.contains("/.local/share/marked\n"), "\(result)")
        #expect(result.text.contains("\nexit 1\n"), "\(result)")
        let advice =
            "/.local/share: items marked purgeable in it are deleted only below mark-roots: name "
            + "it there to have them deleted"
        #expect(log.hasSuffix(advice), "\(log)")
        let named = try tool("cat", home("log.named"))
        #expect(!named.contains("mark-roots"), "\(named)")
        #expect(!home(".local/share/marked").exists)
    }
}
