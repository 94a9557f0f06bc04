import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A week of nights", .cleansUp)
struct WeekTests {
    private static let tree = Tree {
        File("notes", "text")
        File("secret", "text")
        File("never", "text")
        File("large", (0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 7 + 1) | 1 })
        // Less than a fifth of the SOURCE goes with what is evicted.
        File("larger", (0..<2_400_000).map { UInt8(truncatingIfNeeded: $0 / 5 + 3) })
        Directory("build") { for number in 0..<3 { File("\(number)", "text") } }
        for number in 0..<20 { File("file\(number)", "text") }
    }

    /// What happens before each night, how the backup is started, and the exit codes of that and of status.
    private static let nights: [(event: String, words: String, codes: String)] = [
        ("chown 0:0 source/never; chmod 0 source/never", "run", "3 3"),
        ("setfattr -n user.resval.isExcludedFromBackup -v true source/build", "run", "3 0"),
        (#"python3 "$helper" lock "$private/vault""#, "run", "3 3"),
        (":", "run", "3 0"),
        ("chown 0:0 source/secret; chmod 0 source/secret", "run", "3 3"),
        (":", "run", "3 0"),
        (
            #"by_user init --repository "$base/other"; by_user evict --repository "$base/other" source/large"#,
            "run", "3 3"
        ),
        (":", "run", "3 0"),
        ("mv disk away", "run", "10 1"),
        ("mv away disk", "run", "3 0"),
        ("mount -t tmpfs tmpfs $stick; echo text > $stick/film", "run", "3 0"),
        ("umount $stick", "run", "3 0"),
        ("sleep_for '1 day'; on_battery", "run --if-due", "0 0"),
        (":", "run --if-due", "0 0"),
        ("umount /sys/class", "run --if-due", "3 0"),
        ("sleep_for '4 days'", "run --if-due", "3 0"),
        ("rm source/file1", "run", "3 0"),
    ]

    @Test(
        "goes on by itself: at the end the status is good, nothing was accepted, and forget went on"
    )
    func week() throws {
        try require(.tool("setfattr"))
        let backup = try backup(of: Self.tree, user: 54321)
        // A SOURCE with the encrypted directory.
        let (root, vault, _) = try encryptedDirectory()
        try Tree { for number in 0..<9 { File("letter\(number)", "text") } }.create(in: vault)
        let start = #"""
            base=$1 private=$2 helper=$3 stick=/media/me/STICK
            cd "$base"; mount -t tmpfs tmpfs /media || exit
            unset RESVAL_BACKUP_REPOSITORY XDG_CONFIG_HOME XDG_STATE_HOME
            mkdir -p $stick disk home/.config/resval; mv repository disk
            cat > home/.config/resval/backup.toml <<END
            sources = ["$base/source", "/media/me", "$private"]
            repository = "$base/disk/repository"
            password-file = "$base/password"
            verify = "never"
            on-battery = false
            [retention]
            keep-last = 2
            END
            rmdir "$private/lost+found"
            chown -R 54321:54321 home disk source "$private"
            chmod 600 home/.config/resval/backup.toml
            as_user() { setpriv --reuid=54321 --regid=54321 --clear-groups -- "$RESVAL" "$@"; }
            by_user() { as_user "$@" >> log 2>&1; }
            on_battery() {
                mount -t tmpfs tmpfs /sys/class; mkdir -p /sys/class/power_supply/BAT0
                echo Battery > /sys/class/power_supply/BAT0/type
                echo Discharging > /sys/class/power_supply/BAT0/status
            }
            sleep_for() {
                sed -i -E "s/\"(start|end)\":\"[^\"]*/\"\1\":\"$(date -u -d "$1 ago" +%FT%TZ)/g" \
                    home/.local/state/resval/backup/*/status.json
            }

            """#
        let nights = Self.nights.map {
            """
            \($0.event)
            by_user \($0.words); run=$?; as_user status > status 2>&1; echo "$run $?" >> codes
            """
        }
        let end = "cat codes; echo; cat status; echo; as_user snapshots | wc -l; echo; cat log"
        let result = try backup.script(
            (["exec 2>&1", start] + nights + [end]).joined(separator: "\n"), backup.base, root,
            fscryptHelper, unsharing: "--mount")
        let parts = result.text.split(separator: "\n\n", maxSplits: 3)
        try #require(parts.count == 4, "\(result)")
        #expect(parts[0] == Self.nights.map(\.codes).joined(separator: "\n"), "\(result)")
        let status = parts[1].split(separator: "\n")
        #expect(status.first == "ok, but for what was missing before", "\(result)")
        for line in [
            "held: \(backup.source)/build: ", "held: \(backup.source)/secret: ",
            "held: \(root)/vault: ", "held: \(backup.source)/large: ",
        ] {
            #expect(status.count { $0.hasPrefix(line) } == 1, "\(line)\n\(result)")
        }
        #expect(status.count { $0.hasPrefix("held: ") } == 4, "\(result)")
        let lacking = status.filter { $0.hasPrefix("lacking since ") }
        #expect(lacking.count == 2, "\(result)")
        for line in ["never: cannot be read", "large: is not in the snapshot: is evicted"] {
            #expect(lacking.contains { $0.contains("\(backup.source)/\(line)") }, "\(result)")
        }
        #expect(Int(parts[2]).map { $0 <= 7 } == true, "\(result)")
        for text in ["source/build: warning: is newly excluded", "large: is newly excluded"] {
            #expect(parts[3].split(separator: text).count == 2, "\(text)\n\(result)")
        }
    }
}
