import EffectiveValues
import Glibc
import StoragePolicy
import SystemCalls
import SystemPackage
import TestSupport
import Testing

@testable import BackupPlanning

@Suite("Items that move while a plan is made", .cleansUp)
struct MovedItemTests {
    /// A walk with one thread over several directories, that something happens in before its nth item.
    private func plan(
        _ root: FilePath, before number: Int?, _ action: @escaping @Sendable (Int) -> Void
    ) throws -> (plan: BackupPlan, items: Int) {
        var planner = BackupPlanner(policy: StoragePolicy(), mounts: try MountTable.current())
        planner.makesManifest = true
        planner.threadCount = 1
        let count = Monitor(0)
        planner.shouldStop = {
            let now = count.withLock {
                $0 += 1
                return $0
            }
            if number.map({ $0 == now }) ?? true { action(now) }
            return false
        }
        return (try planner.makePlan(for: [root]), count.withLock { $0 })
    }

    private let tree = Tree {
        for name in ["a", "b", "c", "d"] {
            Directory("\(name)") {
                File("1"); File("2")
                Directory("inner") { File("deep") }
            }
        }
    }

    @Test("are in it under one of their names, whenever they move")
    func movedOnce() throws {
        let names = ["a", "b", "c", "d"]
        for from in names {
            for to in names where to != from {
                var number = 1
                var items = 1
                while number <= items {
                    try cleaningUp {
                        let root = try temporaryDirectory(containing: tree)
                        // What is made within a tick may be as new as the walk.
                        usleep(20_000)
                        let (old, new) = ("\(root)/\(from)", "\(root)/\(to)")
                        let result = try plan(root, before: number) { _ in
                            rename("\(old)/1", "\(new)/moved")
                            rename("\(old)/inner", "\(new)/movedInner")
                        }
                        items = result.items
                        let manifest = try #require(result.plan.manifest)
                        for (before, after) in [
                            ("1", "moved"), ("inner", "movedInner"),
                            ("inner/deep", "movedInner/deep"),
                        ] {
                            let isPlanned =
                                manifest.contains(Array("\(old)/\(before)".utf8))
                                || manifest.contains(Array("\(new)/\(after)".utf8))
                            #expect(isPlanned, "\(before) from \(from) to \(to) at \(number)")
                        }
                        #expect(!result.plan.isIncomplete)
                    }
                    number += 1
                }
            }
        }
    }

    @Test("and never rest are named")
    func movedAlways() throws {
        let root = try temporaryDirectory(containing: tree)
        usleep(20_000)
        var silent = 0
        for _ in 0..<20 {
            let result = try plan(root, before: nil) { number in
                let names = ["a", "b", "c", "d"]
                rename("\(root)/\(names[number % 4])/1", "\(root)/\(names[(number + 1) % 4])/1")
                rename("\(root)/\(names[(number + 2) % 4])/2", "\(root)/\(names[number % 4])/2")
            }
            let manifest = try #require(result.plan.manifest)
            let moved = result.plan.notices.filter { $0.matter == .moved }
            #expect(result.plan.isIncomplete == !moved.isEmpty)
            for name in ["a/1", "b/1", "c/1", "d/1", "a/2", "b/2", "c/2", "d/2"] {
                let path = root.pushing(FilePath(name))
                guard access(path.string, F_OK) == 0 else { continue }
                let isPlanned = manifest.contains(path.bytes)
                if !isPlanned && !moved.contains(where: { $0.path == path }) { silent += 1 }
            }
        }
        #expect(silent == 0)
    }

    @Test("are no matter where new files come")
    func newFiles() throws {
        let root = try temporaryDirectory(containing: tree)
        let result = try plan(root, before: nil) { number in
            for name in ["a", "b", "c", "d"] {
                close(open("\(root)/\(name)/new\(number)", O_CREAT | O_WRONLY, 0o600))
            }
        }
        #expect(!result.plan.isIncomplete, "\(result.plan.notices)")
    }
}
