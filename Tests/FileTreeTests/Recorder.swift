import FileTree
import SystemCalls
import SystemPackage

/// What all visitors of walks in this process were told.
final class Recorder: Sendable {
    struct Record: Sendable {
        var entries: [Entry] = []
        var failures: [FileError] = []
        var finished: [Int] = []
    }

    struct Entry: Sendable {
        let path: [UInt8]
        /// Empty for a root.
        let name: String
        let kind: FileKind
        let depth: Int
        let context: String
    }

    private let recorded = Monitor(Record())
    /// Called for each entry before it is recorded.
    private let onVisit: @Sendable (_ depth: Int) -> Void

    init(onVisit: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.onVisit = onVisit
    }

    var record: Record { recorded.withLock { $0 } }

    /// The first names of the way down.
    private func passOn(_ context: String, _ name: String) -> String {
        context.utf8.count < 100 ? context + name + "/" : context
    }

    func scan(_ scanner: TreeScanner, _ roots: FilePath...) throws {
        try scanner.scan(roots.map { TreeRoot($0, context: "") }) { Visitor(self, number: $0) }
    }

    private struct Visitor: TreeVisitor {
        private let recorder: Recorder
        private let number: Int
        private var own = Record()

        init(_ recorder: Recorder, number: Int) {
            self.recorder = recorder
            self.number = number
        }

        mutating func visit(
            _ entry: borrowing TreeEntry, in context: String
        ) -> Descent<String> {
            recorder.onVisit(entry.depth)
            // Bytes: in code that is not optimized a FilePath takes long over a long path.
            var path: [UInt8] = []
            entry.appendPath(to: &path)
            let name = entry.depth == 0 ? "" : String(decoding: entry.nameBytes, as: UTF8.self)
            own.entries.append(
                Entry(
                    path: path, name: name, kind: entry.kind, depth: entry.depth,
                    context: context))
            return name == "skipped" ? .skip : .descend(recorder.passOn(context, name))
        }

        mutating func cannotRead(_ error: FileError) { own.failures.append(error) }

        mutating func finish() {
            own.finished.append(number)
            recorder.recorded.withLock {
                $0.entries += own.entries
                $0.failures += own.failures
                $0.finished += own.finished
            }
        }
    }
}
