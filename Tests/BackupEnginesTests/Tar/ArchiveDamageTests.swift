import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupEngines

@Suite("Damaged archives and manifests")
struct ArchiveDamageTests {
    private static let tree = Tree {
        for number in 0..<20 {
            File(FileName(Array("\(number)".utf8)), [UInt8](repeating: UInt8(number), count: 5000))
        }
    }

    /// Changes a byte in the middle of a file.
    private func flip(_ file: FilePath) throws {
        let script = """
            size=$(stat -c %s "$1"); offset=$((size / 2))
            byte=$(od -An -tu1 -j $offset -N 1 "$1")
            printf "\\\\$(printf %03o $((byte ^ 1)))" |
                dd of="$1" bs=1 seek=$offset conv=notrunc status=none
            """
        try tool("bash", "-c", script, "bash", file)
    }

    @Test("a flipped byte of an archive is found with the data, not without, and the steps heal it")
    func flippedByte() async throws {
        try await withArchives(of: Self.tree) { archives in
            try await archives.store()
            try flip(try #require(try archives.files(".tar.zst").first))
            #expect(try await archives.repository.check(readsData: false).problems == [])
            let check = try await archives.repository.check(readsData: true)
            #expect(!check.problems.isEmpty)
            // What can be read is saved before anything is moved.
            #expect(check.repair.first?.isOwn == true)
            for step in check.repair where !step.isOwn && !step.command.isEmpty {
                let words = step.command.map { FilePath(bytes: $0) as any CommandArgument }
                try Command("/usr/bin/env", arguments: words).runSuccessfully()
            }
            #expect(try await archives.repository.check(readsData: true).problems == [])
            #expect(try archives.files(".damaged").count == 2)
            try await archives.store()
            #expect(try await archives.repository.check(readsData: true).problems == [])
        }
    }

    @Test("a manifest that is cut off, anywhere, is found without reading any data")
    func truncatedManifest() async throws {
        try await withArchives(of: Self.tree) { archives in
            try await archives.store()
            let manifest = try #require(try archives.files(".manifest.").first)
            let size = Int(try manifest.status().size)
            for length in stride(from: size - 1, to: 0, by: -max(size / 20, 1)) {
                try tool("truncate", "-s", "\(length)", manifest)
                let check = try await archives.repository.check(readsData: false)
                #expect(check.problems.count == 1, "\(length) of \(size)")
            }
        }
    }

    @Test("an archive that is missing or shorter is found without reading any data")
    func missingArchive() async throws {
        try await withArchives(of: Self.tree) { archives in
            try await archives.store()
            let archive = try #require(try archives.files(".tar.zst").first)
            try tool("truncate", "-s", "-1", archive)
            #expect(try await archives.repository.check(readsData: false).problems.count == 1)
            try tool("rm", archive)
            #expect(try await archives.repository.check(readsData: false).problems.count == 1)
        }
    }

    @Test("an archive with other content than its manifest tells is found, and not trusted")
    func exchangedArchive() async throws {
        try await withArchives(of: Tree { File("file", "old") }) { archives in
            let first = try await archives.store()
            try tool("sh", "-c", "printf new > \"$1\"", "sh", archives.source.appending("file"))
            let second = try await archives.store()
            let (from, to) = (second.identifier, first.identifier)
            try tool(
                "cp", "\(archives.directory)/\(from).tar.zst", "\(archives.directory)/\(to).tar.zst"
            )
            let check = try await archives.repository.check(readsData: true)
            #expect(check.problems.contains { $0.contains("is not as it was stored") })
            #expect(check.problems.allSatisfy { $0.contains(to) })
            let result = try await archives.repository.restore(
                .identifier(to), to: archives.target, report: { _ in })
            #expect(result.failures.map(\.name) == ["different"])
        }
    }
}
