import CTestSupport
import ResourceValuesFoundation
import SystemCalls
import SystemPackage
import TestSupport
import Testing

/// What the URL API says of a volume that it may have met before.
private struct Answer: Hashable, Sendable {
    let mountPoint: String?
    let type: String?

    init(_ mountPoint: String?, _ type: String?) {
        self.mountPoint = mountPoint
        self.type = type
    }

    init(of path: FilePath) throws {
        let values = try path.url.resourceValues(forKeys: [.volumeURLKey, .volumeTypeNameKey])
        self.init(values.volume?.path, values.volumeTypeName)
    }
}

@Suite("Volumes that were met before", .cleansUp)
struct KnownVolumeTests {
    /// Calls `body` with a directory, on a thread whose mounts no other process sees.
    private func withMounts<Result: Sendable>(
        _ tree: Tree = Tree { Directory("d") },
        _ body: @escaping @Sendable (FilePath) throws -> Result
    ) throws -> Result {
        try require(.root)
        let root = try temporaryDirectory(containing: tree)
        let outcome = Monitor<Swift.Result<Result, any Error>?>(nil)
        let thread = startThread {
            let result = Swift.Result {
                try succeed(test_separate_mounts())
                return try body(root)
            }
            outcome.withLock { $0 = result }
        }
        try #require(thread).join()
        return try #require(outcome.withLock { $0 }).get()
    }

    @Test("a mount that has the number of one before is not mistaken for it")
    func reusedNumbers() throws {
        let (answers, before, numbers) = try withMounts { root in
            let directory = root.appending("d")
            let before = try Answer(of: directory)
            var answers: [Answer] = []
            var numbers: Set<Int?> = []
            for round in 0..<40 {
                try mount(round.isMultiple(of: 2) ? "tmpfs" : "ramfs", at: directory)
                answers.append(try Answer(of: directory))
                numbers.insert(try directory.status().mountNumber)
                try unmount(directory)
                answers.append(try Answer(of: directory))
            }
            return (answers, before, numbers)
        }
        try #require(numbers.count < 40)
        for (index, answer) in answers.enumerated() {
            switch index % 4 {
            case 0: #expect(answer.type == "tmpfs" && answer.mountPoint?.hasSuffix("/d") == true)
            case 2: #expect(answer.type == "ramfs" && answer.mountPoint?.hasSuffix("/d") == true)
            default: #expect(answer == before)
            }
        }
    }

    @Test("a mount whose place was renamed is found at its new place")
    func renamed() throws {
        let tree = Tree { Directory("a") { Directory("m") } }
        let (root, answers) = try withMounts(tree) { root in
            try mount("tmpfs", at: root.appending("a/m"))
            var answers = [try Answer(of: root.appending("a/m"))]
            try tool("mv", root.appending("a"), root.appending("b"))
            answers.append(try Answer(of: root.appending("b/m")))
            try makeDirectory(root.appending("a"), in: .workingDirectory, permissions: 0o700)
            try makeDirectory(root.appending("a/m"), in: .workingDirectory, permissions: 0o700)
            try mount("ramfs", at: root.appending("a/m"))
            answers.append(try Answer(of: root.appending("a/m")))
            answers.append(try Answer(of: root.appending("b/m")))
            return (root.string, answers)
        }
        #expect(
            answers == [
                Answer("\(root)/a/m", "tmpfs"), Answer("\(root)/b/m", "tmpfs"),
                Answer("\(root)/a/m", "ramfs"), Answer("\(root)/b/m", "tmpfs"),
            ])
    }

    @Test("a directory on a mount that was moved above it is not its mount point")
    func movedAbove() throws {
        let tree = Tree { Directory("x") { Directory("y") } }
        let (root, answers) = try withMounts(tree) { root in
            let (above, below) = (root.appending("x"), root.appending("x/y"))
            try mount("tmpfs", at: below)
            try makeDirectory(below.appending("y"), in: .workingDirectory, permissions: 0o700)
            var answers = [try Answer(of: below)]
            try succeed(test_move_mount(below.string, above.string))
            answers.append(try Answer(of: below))
            return (root.string, answers)
        }
        #expect(answers == [Answer("\(root)/x/y", "tmpfs"), Answer("\(root)/x", "tmpfs")])
    }

    @Test("a file below a mount that was covered is still on it")
    func covered() throws {
        let (root, answers) = try withMounts { root in
            let directory = root.appending("d")
            try mount("tmpfs", at: directory)
            let before = try Answer(of: directory)
            let open = try OpenDirectory(at: directory)
            try mount("ramfs", at: directory)
            let inside = FilePath("/proc/thread-self/fd/\(open.descriptor.rawValue)/.")
            return (root.string, [before, try Answer(of: inside), try Answer(of: directory)])
        }
        let covered = Answer("\(root)/d", "tmpfs")
        #expect(answers == [covered, covered, Answer("\(root)/d", "ramfs")])
    }

    @Test("whether a volume is read-only is read each time")
    func remounted() throws {
        let answers = try withMounts { root in
            let directory = root.appending("d")
            try mount("tmpfs", at: directory)
            return try [false, true, false].map { isReadOnly in
                try succeed(test_remount(directory.string, isReadOnly ? 1 : 0))
                return try directory.value(.volumeIsReadOnlyKey) as? Bool
            }
        }
        #expect(answers == [false, true, false])
    }

    @Test("each thread is told what is mounted in its own namespace")
    func namespaces() throws {
        let before = try Answer(of: temporaryDirectory())
        let other = "/proc/\(getpid())/root"
        let (root, answers, after) = try withMounts { root in
            let directory = root.appending("d")
            try mount("tmpfs", at: directory)
            let elsewhere = FilePath(other).pushing(directory.removingRoot())
            let answers = try [directory, elsewhere, directory].map { try Answer(of: $0) }
            return (root.string, answers, try Answer(of: root))
        }
        let own = Answer("\(root)/d", "tmpfs")
        #expect(answers == [own, Answer(nil, nil), own])
        #expect(after == before)
        try #expect(Answer(of: temporaryDirectory()) == before)
    }

    @Test("behind another root the volume of / is not the one of before")
    func changedRoot() throws {
        let tree = Tree { Directory("d") { File("f") } }
        let answers = try withMounts(tree) { root in
            let before = try Answer(of: "/")
            try succeed(test_change_root(root.appending("d").string))
            return try [before] + ["/", "/f"].map { try Answer(of: $0) }
        }
        #expect(answers.first?.mountPoint == "/")
        #expect(Array(answers.dropFirst()) == [Answer(nil, nil), Answer(nil, nil)])
    }

    @Test("more volumes than are kept are each told apart")
    func many() throws {
        let (root, answers) = try withMounts { root in
            let directories = (0..<528).map { root.appending("d/\($0)") }
            for (index, directory) in directories.enumerated() {
                try makeDirectory(directory, in: .workingDirectory, permissions: 0o700)
                try mount(index.isMultiple(of: 2) ? "tmpfs" : "ramfs", at: directory)
            }
            let all = directories + directories.reversed()
            return (root.string, try all.map { try Answer(of: $0) })
        }
        let expected = (0..<528).map { index in
            Answer("\(root)/d/\(index)", index.isMultiple(of: 2) ? "tmpfs" : "ramfs")
        }
        #expect(answers == expected + expected.reversed())
    }

    @Test("threads that read while mounts come and go are never told of a mixture")
    func concurrent() throws {
        let (root, before, answers) = try withMounts { root in
            let directory = root.appending("d")
            let before = try Answer(of: directory)
            let found = Monitor<Set<Answer>>([])
            let isDone = Monitor(false)
            let threads = (0..<4).compactMap { _ in
                startThread {
                    while !isDone.withLock({ $0 }) {
                        let answer = (try? Answer(of: directory)) ?? Answer("unreadable", nil)
                        found.withLock { _ = $0.insert(answer) }
                    }
                }
            }
            // A busy machine may let the threads read between mounts only.
            let end = timeSinceBoot() + .seconds(120)
            var round = 0
            while round < 400 || found.withLock({ $0.count < 2 }) && timeSinceBoot() < end {
                try mount(round.isMultiple(of: 2) ? "tmpfs" : "ramfs", at: directory)
                try unmount(directory)
                round += 1
            }
            isDone.withLock { $0 = true }
            for thread in threads { thread.join() }
            return (root.string, before, found.withLock { $0 })
        }
        let possible: Set<Answer> = [
            before, Answer("\(root)/d", "tmpfs"), Answer("\(root)/d", "ramfs"), Answer(nil, nil),
        ]
        #expect(answers.subtracting(possible) == [])
        #expect(answers.count > 1)
    }

    @Test("a volume that was met is known without a descriptor, and another one is met later")
    func withoutDescriptors() throws {
        let answers = try withMounts { root in
            let directory = root.appending("d")
            let full = SystemCallMock([.openat: Array(repeating: .tooManyOpenFiles, count: 9)])
            let before = try Answer(of: root)
            try mount("tmpfs", at: directory)
            let without = try full.run { [try Answer(of: root), try Answer(of: directory)] }
            return [before] + without + [try Answer(of: directory)]
        }
        #expect(answers[1] == answers[0] && answers[0].type != nil)
        #expect(answers[2] == Answer(nil, nil))
        #expect(answers[3].type == "tmpfs")
    }

    @Test("a kernel without such identities lists all mounts each time")
    func oldKernel() throws {
        let old = SystemCallMock([.statx: [.noFunction]])
        let answer = try old.run { try Answer(of: "/proc/self") }
        #expect(answer == Answer("/proc", "proc"))
        #expect(old.calls[.openat] == 2)
    }
}

private func succeed(_ result: CInt) throws { if result != 0 { throw Errno(rawValue: result) } }

private func mount(_ type: String, at directory: FilePath) throws {
    try succeed(test_mount(type, directory.string))
}

private func unmount(_ directory: FilePath) throws {
    try succeed(test_unmount(directory.string))
}
