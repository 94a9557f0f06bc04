import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("A week of nights", .cleansUp)
struct WeekTests {
    private static let tree = Tree {
        File("notes", "text")
        File("secret", "text")
        File("large", (0..<400_000).map { UInt8(truncatingIfNeeded: $0 / 7 + 1) | 1 })
        Directory("build") { for number in 0..<3 { File("\(number)", "text") } }
        for number in 0..<20 { File("file\(number)", "text") }
    }

    /// What happens before each night, and the exit code of its run.
    private static let nights: [(event: String, code: Int32)] = [
        (":", 0),
        (#"setfattr -n user.resval.isExcludedFromBackup -v true source/build"#, 0),
        ("chown 0:0 source/secret; chmod 0 source/secret", 3),
        (":", 3),
        ("chown 54321 source/secret; chmod 600 source/secret", 0),
        (
            #"as_user init --repository "$base/other"; as_user evict --repository "$base/other" source/large"#,
            3
        ),
        (#"as_user download --repository "$base/other" source/large"#, 0),
        ("mv disk away", 10),
        ("mv away disk", 0),
        ("mount -t tmpfs tmpfs $stick; echo text > $stick/film", 0),
        ("umount $stick", 0),
        ("rm source/file1", 0),
    ]

    @Test(
        "goes on by itself: at the end the status is good, nothing was accepted, and forget went on"
    )
    func week() throws {
        try require(.root, .tool("unshare"), .tool("setpriv"), .tool("setfattr"))
        let backup = try backup(of: Self.tree, user: 54321)
        let start = """
            base=$1; cd "$base"; mount -t tmpfs tmpfs /media || exit; stick=/media/me/STICK
            unset RESVAL_BACKUP_REPOSITORY XDG_CONFIG_HOME XDG_STATE_HOME
            mkdir -p $stick disk home/.config/resval; mv repository disk
            cat > home/.config/resval/backup.toml <<END
            sources = ["$base/source", "/media/me"]
            repository = "$base/disk/repository"
            password-file = "$base/password"
            verify = "never"
            [retention]
            keep-last = 2
            END
            chown -R 54321:54321 home disk source; chmod 600 home/.config/resval/backup.toml
            as_user() {
                setpriv --reuid=54321 --regid=54321 --clear-groups -- "$RESVAL" "$@" >> log 2>&1
            }

            """
        let nights = Self.nights.map {
            "echo; \($0.event); as_user run; echo \"run $?\" >> codes"
        }
        let end = """
            as_user status; echo "status $?" >> codes
            as_user snapshots; cat codes log
            setpriv --reuid=54321 --regid=54321 --clear-groups -- "$RESVAL" snapshots | wc -l
            """
        let result = try backup.script(
            #"exec unshare --mount --propagation private sh -c "$2" sh "$1""#, backup.base,
            (["exec 2>&1", start] + nights + [end]).joined(separator: "\n"))
        let codes = Self.nights.map { "run \($0.code)" } + ["status 0"]
        #expect(
            result.text.split(separator: "\n").filter {
                $0.hasPrefix("run ") || $0.hasPrefix("status ")
            }.map(String.init) == codes, "\(result)")
        let lines = result.text.split(separator: "\n").map(String.init)
        for (text, count) in [
            ("source/build: warning: is newly excluded", 1), ("held: ", 1),
            ("large: is not in", 1),
        ] {
            #expect(lines.count { $0.contains(text) } == count, "\(text)\n\(result)")
        }
        #expect(lines.last.flatMap { Int($0) }.map { $0 <= 4 } == true, "\(result)")
    }
}
