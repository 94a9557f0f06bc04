import StoragePolicy
import SystemPackage
import Testing

struct LocationRow: CustomTestStringConvertible {
    var rule: String
    var environment: [String: FilePath] = [:]
    var passwd = "u:x:1000:1000::/home/u:/bin/sh\n"
    var userDirectories = ""
    var named: [StorageLocation] = []
    var applicationCaches: [FilePath] = []
    var realPaths: [FilePath: FilePath] = [:]
    var unsafePaths: [FilePath: FilePath] = [:]
    /// The locations that are left out of backups, without /tmp and /var/tmp unless one is missing.
    var excluded: [FilePath]
    var cutOuts: [FilePath] = []
    var warnings: [String] = []
    var testDescription: String { rule }

    /// Reads rows, each a line: the rule, variables, what is left out besides /tmp and /var/tmp, and
    /// a warning; a dash stands for nothing.
    static func rows(_ table: String) -> [LocationRow] {
        table.split(separator: "\n").map { line in
            let fields = line.split(separator: " | ").map { $0 == "-" ? "" : String($0) }
            var row = LocationRow(rule: fields[0], excluded: temporary)
            for variable in fields[1].split(separator: " ") {
                let parts = variable.split(separator: "=", omittingEmptySubsequences: false)
                row.environment[String(parts[0])] = FilePath(String(parts[1]))
            }
            row.excluded += fields[2].split(separator: " ").map { FilePath(String($0)) }
            if fields.count > 3 { row.warnings = [fields[3]] }
            return row
        }
    }
}

private let usual: [FilePath] = ["/tmp", "/var/tmp", "/home/u/.cache"]
private let temporary: [FilePath] = ["/tmp", "/var/tmp"]

private let rows =
    LocationRow.rows(
        """
        the defaults | - | /home/u/.cache
        $HOME counts before the password database | HOME=/home/v | /home/v/.cache
        an empty $HOME falls back to the password database | HOME= | /home/u/.cache
        a relative $HOME is ignored | HOME=home/v | /home/u/.cache | relative $HOME
        / is no home | HOME=/ | /home/u/.cache | filesystem-root $HOME
        $TMPDIR inside /tmp counts | TMPDIR=/tmp/user/1000 | /tmp/user/1000 /home/u/.cache
        $TMPDIR that is /var/tmp adds nothing | TMPDIR=/var/tmp | /home/u/.cache
        $TMPDIR elsewhere is ignored | TMPDIR=/scratch | /home/u/.cache | outside-temporary $TMPDIR
        $TMPDIR that only looks like /tmp is ignored | TMPDIR=/tmp/../home | /home/u/.cache \
        | outside-temporary $TMPDIR
        a relative $TMPDIR is ignored | TMPDIR=tmp | /home/u/.cache | relative $TMPDIR
        $TMPDIR that is / is ignored | TMPDIR=/ | /home/u/.cache | filesystem-root $TMPDIR
        $XDG_CACHE_HOME inside the home counts | XDG_CACHE_HOME=/home/u/.c | /home/u/.c
        a relative $XDG_CACHE_HOME is ignored for the default | XDG_CACHE_HOME=.c | /home/u/.cache \
        | relative $XDG_CACHE_HOME
        $XDG_CACHE_HOME that is the home is ignored | XDG_CACHE_HOME=/home/u | - \
        | home $XDG_CACHE_HOME
        $XDG_CACHE_HOME above a home is ignored | XDG_CACHE_HOME=/home | - \
        | holds-home $XDG_CACHE_HOME
        $XDG_CACHE_HOME that is / is ignored | XDG_CACHE_HOME=/ | - \
        | filesystem-root $XDG_CACHE_HOME
        $XDG_CACHE_HOME outside the home is ignored | XDG_CACHE_HOME=/srv/cache | - \
        | outside-home $XDG_CACHE_HOME
        $XDG_CACHE_HOME in the documents is ignored | XDG_CACHE_HOME=/home/u/Documents/c | - \
        | overlaps-protected $XDG_CACHE_HOME
        $XDG_CACHE_HOME that is the data home is ignored | XDG_CACHE_HOME=/home/u/.local/share | - \
        | overlaps-protected $XDG_CACHE_HOME
        $XDG_CACHE_HOME above data and state is ignored | XDG_CACHE_HOME=/home/u/.local | - \
        | overlaps-protected $XDG_CACHE_HOME
        $XDG_CACHE_HOME in the configuration is ignored | XDG_CACHE_HOME=/home/u/.config/c | - \
        | overlaps-protected $XDG_CACHE_HOME
        """) + [
        LocationRow(
            rule: "without a home there are no caches", passwd: "u:x:1000:1000::/:/bin/sh\n",
            excluded: temporary, warnings: ["no-home $HOME"]),
        LocationRow(
            rule: "$TMPDIR that a link leads out of /tmp is ignored",
            environment: ["TMPDIR": "/tmp/link"], realPaths: ["/tmp/link": "/home/u/work"],
            excluded: usual, warnings: ["outside-temporary $TMPDIR"]),
        LocationRow(
            rule: "$TMPDIR elsewhere counts when it is named", environment: ["TMPDIR": "/scratch"],
            named: [StorageLocation(kind: .temporary, path: "/scratch")],
            excluded: ["/scratch"] + usual),
        LocationRow(
            rule: "the caches of applications count",
            applicationCaches: ["/home/u/.var/app/x/cache", "/home/u/snap/y/common/.cache"],
            excluded: usual + ["/home/u/.var/app/x/cache", "/home/u/snap/y/common/.cache"]),
        LocationRow(
            rule: "the cache of an application that leads elsewhere does not count",
            applicationCaches: ["/home/u/.var/app/x/cache", "/home/u/snap/y/common/.cache"],
            realPaths: [
                "/home/u/.var/app/x/cache": "/home/u/.var/app/x/data",
                "/home/u/snap/y/common/.cache": "/home/u/work",
            ], excluded: usual),
        LocationRow(
            rule: "$XDG_CACHE_HOME that is another's home is ignored",
            environment: ["XDG_CACHE_HOME": "/home/v"],
            passwd: "u:x:1000:1000::/home/u:/bin/sh\nv:x:1001:1001::/home/v:/bin/sh\n",
            excluded: temporary, warnings: ["home $XDG_CACHE_HOME"]),
        LocationRow(
            rule: "$XDG_CACHE_HOME outside the home counts when it is named",
            environment: ["XDG_CACHE_HOME": "/srv/cache"],
            named: [StorageLocation(kind: .caches, path: "/srv/cache")],
            excluded: ["/srv/cache"] + temporary),
        LocationRow(
            rule: "caches that a link leads into the documents are ignored",
            realPaths: ["/home/u/.cache": "/home/u/Documents"], excluded: temporary,
            warnings: ["overlaps-protected the default of $XDG_CACHE_HOME"]),
        LocationRow(
            rule: "the default caches are ignored when a configured user directory lies in them",
            userDirectories: #"XDG_MUSIC_DIR="$HOME/.cache/music""#, excluded: temporary,
            warnings: ["overlaps-protected the default of $XDG_CACHE_HOME"]),
        LocationRow(
            rule: "a home inside /tmp is cut out of it", environment: ["HOME": "/tmp/h"],
            excluded: temporary + ["/tmp/h/.cache"],
            cutOuts: [
                "/tmp/h", "/tmp/h/.config", "/tmp/h/.gnupg", "/tmp/h/.local/share",
                "/tmp/h/.local/state", "/tmp/h/.ssh", "/tmp/h/Desktop", "/tmp/h/Documents",
                "/tmp/h/Downloads", "/tmp/h/Music", "/tmp/h/Pictures", "/tmp/h/Public",
                "/tmp/h/Templates", "/tmp/h/Videos",
            ]),
        LocationRow(
            rule: "/tmp is ignored when it is a user directory",
            userDirectories: #"XDG_DOWNLOAD_DIR="/tmp""#,
            excluded: ["/var/tmp", "/home/u/.cache"], warnings: ["overlaps-protected /tmp"]),
        LocationRow(
            rule: "user directories inside /tmp are cut out of it",
            userDirectories: #"""
                XDG_DOWNLOAD_DIR="/tmp/downloads"
                XDG_MUSIC_DIR="/tmp/music"
                """#,
            excluded: usual, cutOuts: ["/tmp/downloads", "/tmp/music"]),
        LocationRow(
            rule: "/tmp is ignored when it is a home",
            passwd: "u:x:1000:1000::/home/u:/bin/sh\nn:x:65534:65534::/tmp:/bin/sh\n",
            excluded: ["/var/tmp", "/home/u/.cache"], warnings: ["home /tmp"]),
        LocationRow(
            rule: "/var/cache counts when it is named, without a home inside",
            passwd: "u:x:1000:1000::/home/u:/bin/sh\nman:x:6:12::/var/cache/man:/bin/sh\n",
            named: [StorageLocation(kind: .caches, path: "/var/cache")],
            excluded: ["/var/cache"] + usual, cutOuts: ["/var/cache/man"]),
        LocationRow(
            rule: "/ is ignored also when it is named",
            named: [StorageLocation(kind: .caches, path: "/")], excluded: usual,
            warnings: ["filesystem-root the named directory"]),
        LocationRow(
            rule: "a relative path is ignored also when it is named",
            named: [StorageLocation(kind: .caches, path: "c")], excluded: usual,
            warnings: ["relative the named directory"]),
        LocationRow(
            rule: "what no safe way leads to is no location, whatever names it",
            environment: ["TMPDIR": "/tmp/t"],
            named: [StorageLocation(kind: .caches, path: "/srv/cache")],
            unsafePaths: [
                "/tmp/t": "/tmp/t", "/srv/cache": "/srv/cache", "/home/u/.cache": "/home/u/.cache",
                "/var/tmp": "/var", "/home/u/.local/share": "/home/u/.local",
            ], excluded: ["/tmp"],
            warnings: [
                "unsafe-path the named directory", "unsafe-path /var/tmp", "unsafe-path $TMPDIR",
                "unsafe-path the default of $XDG_CACHE_HOME",
                "unsafe-path the default of $XDG_DATA_HOME",
            ]),
        LocationRow(
            rule: "a linked home is known by its real path",
            environment: ["HOME": "/home/u", "XDG_CACHE_HOME": "/data/u"],
            realPaths: ["/home/u": "/data/u"], excluded: temporary,
            warnings: ["home $XDG_CACHE_HOME"]),
    ]

struct LocationTests {
    @Test("each rule about locations", arguments: rows)
    func rule(row: LocationRow) {
        let locations = locations(
            row.environment, passwd: row.passwd, userDirectories: row.userDirectories,
            named: row.named, realPaths: row.realPaths, unsafePaths: row.unsafePaths,
            applicationCaches: row.applicationCaches)
        let excluded = locations.locations.filter { !$0.kind.isBackedUp }.map(\.path)
        #expect(excluded == row.excluded)
        #expect(locations.cutOuts == row.cutOuts)
        #expect(locations.warnings.map { "\($0.cause.rawValue) \($0.setting)" } == row.warnings)
        for warning in locations.warnings { #expect(!warning.sentence.isEmpty) }
    }

    @Test(
        "a directory of the system or of a user's own things is refused when it is named",
        arguments: [
            "/etc", "/etc/ssl", "/usr", "/usr/share/app/cache", "/bin", "/boot", "/dev/shm",
            "/proc",
            "/sys", "/run", "/run/user/1000", "/lib", "/lib64", "/sbin", "/var", "/var/lib",
            "/var/lib/docker", "/var/log", "/var/spool", "/var/mail/u", "/home", "/root", "/srv",
            "/opt", "/mnt", "/", "/home/u", "/home/v", "/home/u/Documents", "/home/u/.config/x",
            "/home/u/.local/share", "/home/u/.local", "/home/v/Documents", "/home/v/Pictures/x",
            "/home/v/.ssh", "/home/v/.local", "/data", "c",
        ])
    func refused(path: FilePath) {
        for kind in [StorageLocation.Kind.caches, .temporary] {
            let locations = locations(
                passwd: """
                    u:x:1000:1000::/home/u:/bin/sh
                    v:x:1001:1001::/home/v:/bin/sh
                    w:x:1002:1002::/data/w:/bin/sh
                    mail:x:8:8::/var/mail:/bin/sh
                    """,
                named: [StorageLocation(kind: kind, path: path)])
            #expect(locations.locations.filter { !$0.kind.isBackedUp }.map(\.path) == usual)
            #expect(locations.refusals.map(\.path) == [path])
            #expect(locations.warnings == locations.refusals)
        }
    }

    @Test("a link to a directory of the system is refused, too")
    func refusedLink() {
        let locations = locations(
            named: [StorageLocation(kind: .caches, path: "/srv/cache")],
            realPaths: ["/srv/cache": "/usr/lib"])
        #expect(locations.refusals.map(\.cause) == [.systemDirectory])
        #expect(
            locations.refusals.first?.sentence.hasSuffix("a directory of the system: /usr") == true)
    }

    @Test("a named directory where another user decides is passed over, and that is no refusal")
    func unsafeName() {
        let locations = locations(
            named: [StorageLocation(kind: .caches, path: "/srv/cache")],
            realPaths: ["/srv/cache": "/usr"], unsafePaths: ["/srv/cache": "/srv/cache"])
        #expect(locations.warnings.map(\.cause) == [.unsafePath])
        #expect(locations.refusals == [])
        #expect(!locations.locations.contains { $0.path == "/usr" })
    }

    @Test(
        "any other directory may be named",
        arguments: [
            "/var/cache", "/var/cache/app", "/var/tmp/app", "/tmp/app", "/srv/cache",
            "/opt/app/cache",
            "/mnt/disk/cache", "/data", "/home/u/work/cache", "/home/v/.cache/app",
            "/var/lib/jenkins/.cache", "/etcetera", "/user",
        ])
    func accepted(path: FilePath) {
        let locations = locations(
            passwd: """
                u:x:1000:1000::/home/u:/bin/sh
                v:x:1001:1001::/home/v:/bin/sh
                jenkins:x:110:110::/var/lib/jenkins:/bin/sh
                """,
            named: [StorageLocation(kind: .caches, path: path)])
        #expect(locations.locations.contains(StorageLocation(kind: .caches, path: path)))
        #expect(locations.refusals == [])
    }

    @Test("application data and documents are locations that are backed up")
    func backedUpLocations() {
        let locations = locations(userDirectories: #"XDG_DOCUMENTS_DIR="$HOME/Dokumente""#)
        let kinds = Dictionary(uniqueKeysWithValues: locations.locations.map { ($0.path, $0.kind) })
        #expect(kinds["/home/u/.local/share"] == .applicationSupport)
        #expect(kinds["/home/u/Dokumente"] == .documents)
        #expect(kinds["/home/u/Documents"] == .documents)
        #expect(locations.protectedRoots.contains("/home/u/.ssh"))
        #expect(locations.protectedRoots.contains("/home/u/.local/state"))
    }

    @Test("the innermost location holds a path, unless it is cut out")
    func holdingLocation() {
        let locations = locations(["HOME": "/tmp/h"])
        #expect(locations.location(holding: "/tmp/x")?.path == "/tmp")
        #expect(locations.location(holding: "/tmp/h/x") == nil)
        #expect(locations.location(holding: "/tmp/h/.cache/x")?.kind == .caches)
        #expect(locations.location(holding: "/tmp/h/Documents/x")?.kind == .documents)
        #expect(locations.location(holding: "/etc") == nil)
    }
}
