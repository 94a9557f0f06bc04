import CLinux
import ResourceValues
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Restoring archives in which a bit flipped")
struct FlippedBitTests {
    /// A tree in which much of the archive is something else than content.
    private func makeTree(in source: FilePath) throws {
        let script = """
            cd "$1"
            for number in $(seq 12); do
                echo "text $number" > file$number
                setfattr -n user.note$number -v "$(head -c 60 /dev/urandom | base64 -w 0)" file$number
                setfattr -n user.resval.isPurgeable -v true file$number
            done
            mkdir -m 2750 directory; setfattr -n user.resval.fileProtection -v none directory
            chmod 4711 file1; chmod 400 file2
            ln file3 directory/other; ln -s "$(head -c 30 /dev/urandom | base64 -w 0)" link
            mkfifo fifo; truncate -s 100000 sparse; touch -d 1999-01-02T03:04:05.678 file4
            if [ "$(id -u)" = 0 ]; then mknod device c 5 17; setfattr -n security.note -v x file5; fi
            """
        try tool("bash", "-c", script, "bash", source)
    }

    private func flip(_ bit: Int, of file: FilePath) throws {
        let descriptor = try openFile(
            in: .workingDirectory, file, flags: .readWrite)
        defer { closeIgnoringErrors(descriptor) }
        try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { byte in
            #expect(try readFile(descriptor, at: Int64(bit / 8), into: byte) == 1)
            byte[0] ^= 1 << UInt8(bit % 8)
            try writeFile(descriptor, UnsafeRawBufferPointer(byte), at: Int64(bit / 8))
        }
    }

    /// The items of the source that a restore did not bring back as they are.
    private func differences(_ archives: Archives, _ source: TreeListing) throws -> [[UInt8]] {
        let root = archives.target.pushing(FilePath(root: nil, archives.source.components))
        let isThere = (try? root.status()) != nil
        let restored = isThere ? try TreeListing(of: root) : TreeListing()
        return restored.differingPaths(from: source).map { archives.source.bytes + $0 }
    }

    @Test(
        "what differs is named, or the restore fails: 150 flipped bits each",
        arguments: [".tar.zst", ".manifest."])
    func flippedBits(name: String) async throws {
        try require(.tool("setfattr"))
        try await withArchives(of: Tree {}) { archives in
            try makeTree(in: archives.source)
            try await archives.store()
            let source = try TreeListing(of: archives.source)
            let snapshot = try #require(try await archives.repository.snapshots().first)
            let file = try #require(try archives.files(name).first)
            let size = Int(try file.status().size)
            var numbers = SeededNumbers(seed: 1)
            var outcomes = [0, 0, 0]
            for _ in 0..<150 {
                let bit = Int.random(in: 0..<(size * 8), using: &numbers)
                try flip(bit, of: file)
                do {
                    let result = try await archives.repository.restore(
                        .identifier(snapshot.identifier), to: archives.target, report: { _ in })
                    var named = Set(result.failures.map(\.path))
                    // When one name of a file is missing, the other one's is the only one.
                    let other = archives.source.bytes + Array("/directory/other".utf8)
                    if named.contains(archives.source.bytes + Array("/file3".utf8)) {
                        named.insert(other)
                    }
                    let missed = try differences(archives, source).filter { !named.contains($0) }
                    #expect(
                        missed.isEmpty,
                        "bit \(bit): \(missed.map { String(decoding: $0, as: UTF8.self) })")
                    outcomes[result.isComplete ? 0 : 1] += 1
                } catch let error as BackupError {
                    #expect([.damaged, .noSnapshot].contains(error.code), "bit \(bit): \(error)")
                    outcomes[2] += 1
                }
                try tool("rm", "-rf", archives.target)
                try flip(bit, of: file)
            }
            // A flipped bit in the archive is never taken for none; in the manifest's first line, which
            // tells of the snapshot, it may lead nowhere.
            #expect(name == ".manifest." || outcomes[0] == 0, "\(outcomes)")
            let whole = try await archives.repository.restore(
                .identifier(snapshot.identifier), to: archives.target, report: { _ in })
            #expect(whole.isComplete, "\(whole)")
            #expect(try differences(archives, source) == [])
        }
    }

    @Test(
        "attributes without a digest are believed while the archive is the one that was written",
        arguments: [true, false])
    func withoutDigest(isSame: Bool) async throws {
        try await withArchives(of: Tree {}) { archives in
            let identifier = "0123456789abcdef"
            let moment = FileTime(seconds: 1_000_000, nanoseconds: 0)
            let files = try [TarNames.archive(identifier), TarNames.manifest(identifier)].map {
                SharedDescriptor(
                    try openFile(
                        in: .workingDirectory, archives.directory.pushing($0),
                        flags: [.writeOnly, .create], permissions: 0o600))
            }
            let writer = try ArchiveWriter(.pax, to: files[0].descriptor)
            let manifest = try ManifestWriter(
                to: files[1].descriptor,
                Snapshot(
                    identifier: identifier, time: moment, hostName: "", userName: "", allTags: []))
            var item = ManifestItem()
            item.path = Array("/directory".utf8)
            (item.kind, item.permissions, item.modified) = (.directory, 0o700, moment)
            item.attributeCount = 1
            var entry = ArchiveMetadata(
                path: item.archivePath, kind: .directory, permissions: 0o700, owner: 0, group: 0,
                modified: moment)
            entry.attributes = [
                ExtendedAttribute(name: Array("user.note".utf8), value: Array("text".utf8))
            ]
            try writer.begin(entry)
            try writer.end()
            try manifest.append(item)
            var end = ManifestEnd()
            end.items = 1
            (end.archiveSize, end.archiveDigest) = try writer.finish()
            if !isSame { end.archiveDigest = String(repeating: "0", count: 64) }
            _ = try manifest.finish(end)
            withExtendedLifetime(files) {}
            let result = try await archives.repository.restore(
                .identifier(identifier), to: archives.target, report: { _ in })
            #expect(result.failures.map(\.name) == (isSame ? [] : ["unchecked"]))
            #expect(result.complaints.count == (isSame ? 0 : 1))
        }
    }
}
