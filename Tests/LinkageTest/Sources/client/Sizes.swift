import EffectiveValues
import FileTree
import Synchronization
import SystemPackage

/// Prints how much a tree takes, and how many of its items have marks, from one parallel walk.
func printSizes(below directory: FilePath) throws {
    let total = Total()
    try TreeScanner().scan([TreeRoot(directory)]) { _ in SizeVisitor(total: total) }
    print("bytes in files: \(total.bytes.load(ordering: .relaxed))")
    print("items with marks: \(total.marked.load(ordering: .relaxed))")
}

private final class Total: Sendable {
    let bytes = Atomic<Int64>(0)
    let marked = Atomic(0)
}

private struct SizeVisitor: TreeVisitor {
    let total: Total
    let reader = MarkReader()

    func visit(_ entry: borrowing TreeEntry, in context: Void) -> Descent<Void> {
        do {
            let marks = try reader.marks(of: entry, kind: entry.kind)
            if marks != .none { total.marked.add(1, ordering: .relaxed) }
            let size = entry.kind == .regularFile ? try entry.status().size : 0
            total.bytes.add(size, ordering: .relaxed)
        } catch {
            print("\(entry.path): \(error)")
        }
        return .descend(())
    }

    func cannotRead(_ error: FileError) { print(error) }

    func finish() {}
}
