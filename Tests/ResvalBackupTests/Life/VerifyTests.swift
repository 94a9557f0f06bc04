import SystemCalls
import SystemPackage
import TestSupport
import Testing

@Suite("Verifying", .cleansUp)
struct VerifyTests {
    @Test("a flipped byte is found by reading all data, and the steps printed heal it")
    func flippedByte() throws {
        let backup = try backup { File("small", "text") }
        try backup.addNoise(megabytes: 2)
        try backup.create()
        try backup.run(
            "verify", "latest", "--read-data", exits: 0,
            prints: "no damage found (all data was read)")
        try damageFiles(in: backup.repository.appending("data"), "-size", "+500k")
        try backup.run("verify", exits: 0, prints: "structure only")
        let found = try backup.run(
            "verify", "--read-data", exits: 1, prints: "# damage found (all data was read)")
        try DamagedBackup(backup).runSteps(found).expect(
            exits: 0, prints: "no damage found (structure only")
        try backup.restore()
        try tool("cmp", "\(backup.source)/large", backup.restored(backup.source).appending("large"))
    }

    @Test("a snapshot whose trees are gone is damage")
    func missingTree() throws {
        let backup = try backup { File("file", "text") }
        try backup.create()
        let script = #"find "$1/data" -type f -delete; rm -rf "$2/cache""#
        try shell(script, backup.repository, backup.base)
        let result = try backup.run("verify", "latest", exits: 1, says: "pack")
        // What is missing cannot be repaired from itself.
        #expect(!result.text.contains(" repair packs "), "\(result)")
        let json = try backup.run("verify", "--json")
        #expect(json.text.contains(#""isHealthy":false,"readsData":false"#), "\(json)")
    }

    @Test("a snapshot with another number of files than were stored is a problem")
    func count() throws {
        let backup = try backup {
            for number in 0..<5 { File("\(number)", "text") }
            SymbolicLink("link", to: "0")
        }
        try backup.create()
        try backup.run("verify", exits: 0, prints: "7 items can be listed, as many files as were")
        let script = #"find "$1" -type f -exec sed -i 's/"files":5/"files":6/' {} +"#
        try shell(script, backup.base.appending("home/.local/state/resval/backup/records"))
        try backup.run("verify", exits: 1, says: "has 5 files, and 6 were stored")
        try shell(#"rm -r "$1""#, backup.base.appending("home/.local/state/resval/backup/records"))
        try backup.run("verify", exits: 0, prints: "compared with no note of them")
    }

    /// Makes files that are gone but for the first snapshot, and one that is evicted, whose contents are all in
    /// one pack.
    private func oldFiles() throws -> (BackupFixture, DamagedBackup) {
        let backup = try backup {
            Directory("a") { File("kept", random()) }
            Directory("b") {
                for name in ["one", "two", "three"] { File("\(name)", random()) }
                File(FileName([0x66, 0xFF]), random())
            }
            File("evicted", random()).purgeable()
        }
        try backup.create()
        try tool("cp", "-a", backup.source, backup.base.appending("original"))
        let damaged = DamagedBackup(backup)
        try tool("rm", "-r", backup("b"))
        // It covers less than the one before.
        try backup.run("create", backup.source, "--tag", "second", exits: 3)
        try backup.runSuccessfully("evict", backup("evicted"))
        return (backup, damaged)
    }

    private func random() -> [UInt8] {
        (0..<40_000).map { _ in UInt8.random(in: .min ... .max) }
    }

    @Test("what a repair costs is the damaged file, which is named; all else of its pack stays")
    func repairKeepsWhatCanBeRead() throws {
        let (backup, damaged) = try oldFiles()
        try backup.run(
            "verify", "latest", "--read-data", exits: 0,
            prints: "no damage found (all data was read)")
        try damaged.flip(file: "b/two")
        try backup.run("verify", exits: 0, prints: "structure only")
        let found = try backup.run("verify", "--read-data", exits: 1)
        let last = try damaged.runSteps(found)
        last.expect(exits: 1, says: "/b/two: has lost data in snapshot")
        #expect(!last.errorText.contains("/b/one"), "\(last)")
        try damaged.checkRestore(without: ["b/two"])
        try tool("rm", "-r", backup.target)
        try damaged.checkRestore(of: "b", without: ["b/two"])
        try backup.runSuccessfully("download", backup("evicted"))
        try tool("cmp", backup("evicted"), damaged.original("evicted"))
    }

    @Test("a damaged file with a name of any bytes is named, and one that is there is stored anew")
    func repairStoresAnew() throws {
        let (backup, damaged) = try oldFiles()
        try damaged.flip(file: "b/f\u{FF}")
        try damaged.flip(file: "a/kept")
        let found = try backup.run("verify", "--read-data", exits: 1)
        try damaged.runSteps(found).expect(exits: 1)
        let after = try backup.run("verify")
        #expect(after.errorText.contains(#"/b/f\377': has lost data"#), "\(after)")
        #expect(!after.errorText.contains("/a/kept"), "\(after)")
        try damaged.checkRestore(without: ["b/f\u{FF}"])
    }

    @Test("a restore names what it was asked for and the repository lacks, and nothing else")
    func lostElsewhere() throws {
        let (backup, damaged) = try oldFiles()
        try damaged.damage(file: "b/one", "truncate -s 0 \"$pack\"")
        let last = try damaged.runSteps(try backup.run("verify"))
        #expect(damaged.lost(in: last).contains("b/two"), "\(last)")
        let result = try damaged.restore("b/one", "a")
        result.expect(exits: 3, says: "/b/one: was not restored: its data is missing")
        #expect(!result.errorText.contains("/b/t"), "\(result)")
    }

    @Test("a damaged directory is found without reading all data, also where the cache has it")
    func damagedTrees() throws {
        let (backup, damaged) = try oldFiles()
        try damaged.flip(directory: "b")
        try backup.run("verify", exits: 1, prints: " repair packs ")
    }

    @Test("a pack that was cut off and an index that is damaged are healed as far as can be")
    func cutOffAndIndex() throws {
        let (backup, damaged) = try oldFiles()
        try damaged.damage(file: "b/three", "truncate -s \"$offset\" \"$pack\"")
        let last = try damaged.runSteps(try backup.run("verify"))
        #expect(last.errorText.contains("/b/three: has lost data"), "\(last)")
        try shell(
            "for f in \"$1\"/index/*; do chmod u+w \"$f\"; echo x | dd of=\"$f\" bs=1 seek=40 "
                + "conv=notrunc status=none; done", backup.repository)
        let index = try backup.run("verify", exits: 1)
        _ = try damaged.runSteps(index)
        try damaged.checkRestore(without: damaged.lost(in: last))
    }
}

/// A backup whose repository is damaged at chosen places.
private struct DamagedBackup {
    private let backup: BackupFixture

    init(_ backup: BackupFixture) { self.backup = backup }

    func original(_ name: String) -> FilePath {
        backup.base.appending("original").pushing(path(name))
    }

    private static let flip = """
        byte=$(od -An -tu1 -j$((offset + 50)) -N1 "$pack")
        printf "\\\\$(printf %o $((byte ^ 1)))" |
            dd of="$pack" bs=1 seek=$((offset + 50)) conv=notrunc status=none
        """

    /// Flips a bit of what a file holds in the repository.
    func flip(file name: String) throws {
        try damage(file: name, Self.flip)
    }

    /// Flips a bit of a directory in the first snapshot.
    func flip(directory name: String) throws {
        let snapshot = try backup.restic("snapshots", "--json")
            .split(separator: "\"id\":\"")[1].prefix(64)
        var tree = try backup.restic("cat", "snapshot", "\(snapshot)")
            .split(separator: "\"tree\": \"")[1].prefix(64)
        for component in backup.source.pushing(path(name)).components {
            let nodes = try backup.restic("cat", "blob", "\(tree)")
            let node = nodes.split(separator: "{\"name\":\"\(component)\"")[1]
            tree = node.split(separator: "\"subtree\":\"")[1].prefix(64)
        }
        try damage(tree, Self.flip)
    }

    /// Runs a script on the pack that holds a file.
    func damage(file name: String, _ script: String) throws {
        try damage(tool("sha256sum", original(name)).drop { $0 == "\\" }.prefix(64), script)
    }

    private func damage(_ blob: some StringProtocol, _ script: String) throws {
        let result = try backup.script(
            """
            set -e
            for index in $($RESTIC list index); do
                # One pack a line, and one blob a line.
                found=$($RESTIC cat index $index | sed 's/{"id"/\\n&/g' |
                    awk -v blob="$1" '/"blobs"/ { split($0, w, "\\""); pack = w[4] }
                        index($0, "\\"id\\":\\"" blob) { split($0, w, "[:,]"); print pack, w[6] }')
                [ -z "$found" ] || break
            done
            pack=${found% *} offset=${found#* }
            pack=$(ls "$2/data/"*"/$pack")
            chmod u+w "$pack"
            """ + "\n" + script, String(blob), backup.repository)
        try #require(result.exitCode == 0, "\(result)")
    }

    /// Runs the commands that were printed, and answers the last one's result.
    func runSteps(_ found: CommandResult) throws -> CommandResult {
        try backup.script(
            """
            export PATH="$(dirname "$RESVAL"):$PATH"
            printf '%s' "$1" > "$2/steps" && cd "$2" && bash steps
            """, found.text, backup.base)
    }

    /// Restores the first snapshot, or items of it.
    func restore(_ names: String...) throws -> CommandResult {
        let paths: [any CommandArgument] = names.map { backup.source.pushing(path($0)) }
        return try backup.command(
            ["restore", "--snapshot", try first(), "--target", backup.target] + paths
        ).run()
    }

    /// Restores the first snapshot or a directory of it, and compares with what was there, but for some
    /// items.
    func checkRestore(of directory: String = "", without lost: [String]) throws {
        let result = try directory.isEmpty ? restore() : restore(directory)
        #expect((result.exitCode == 0) == lost.isEmpty, "\(result)")
        let restored = backup.restored(backup.source)
        for name in lost {
            try tool("rm", "-rf", restored.pushing(path(name)), original(name))
        }
        let (before, after) = (original(directory), restored.pushing(path(directory)))
        try Command("/usr/bin/diff", "-r", before, after).run(exits: 0)
    }

    private func first() throws -> String {
        let lines = try backup.runSuccessfully("snapshots").split(separator: "\n")
        return lines.first { $0.hasSuffix("/source") }.map { String($0.prefix(8)) } ?? ""
    }

    /// The files that a command named as lost.
    func lost(in result: CommandResult) -> [String] {
        result.errorText.split(separator: "\n").compactMap { line in
            guard let end = line.firstRange(of: ": has lost data"),
                let start = line.firstRange(of: "/source/")
            else { return nil }
            return String(line[start.upperBound..<end.lowerBound])
                .replacing(#"\377'"#, with: "\u{FF}")
        }
    }

    private func path(_ name: String) -> FilePath {
        FilePath(bytes: Array(name.unicodeScalars.map { UInt8($0.value) }))
    }
}
