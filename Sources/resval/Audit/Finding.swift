import CommandSupport
import SystemCalls
import SystemPackage

struct Finding: Sendable {
    /// What is wrong, in the order of the output.
    enum Kind: String, Sendable, CaseIterable {
        /// An exclusion covers documents.
        case excludedDocuments = "excluded-documents"
        /// A backup excludes what git tracks.
        case excludedTracked = "excluded-tracked"
        /// The mark on an excluded directory came with a copy, and there is new work in it.
        case copiedMark = "copied-mark"
        /// The content of an evicted file may not be found.
        case lostContent = "lost-content"
        case malformed
        /// Marks of other programs contradict each other, and no native mark decides.
        case conflict
        /// A mark has no effect.
        case useless
        /// Programs that save by replacing the file would drop its mark.
        case fragile
        /// A mark is on a former version of a file, and not on the file.
        case leftBehind = "left-behind"
        /// A foreign mark is there, and means nothing.
        case meaningless
        /// Nothing enforces a protection class.
        case unenforced
        /// An item is marked purgeable, and no purge deletes it.
        case unreachable
        /// A backup includes something large that nothing excludes.
        case large

        fileprivate var order: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    let kind: Kind
    /// The real path.
    let path: [UInt8]
    /// The allocated size in bytes, of a directory with everything in it.
    let size: Int64
    let reason: String
    /// The directory that ``reason`` is about; nil if it is about the item itself.
    let ancestor: FilePath?
    /// The command that mends it; nil where no command of this package does.
    let command: String?

    init(
        _ kind: Kind, _ item: AuditItem, _ reason: String, at ancestor: FilePath? = nil,
        command: String?
    ) {
        self.kind = kind
        path = item.path.bytes
        size = item.size
        self.reason = reason
        self.ancestor = ancestor
        self.command = command
    }

    static func precedes(_ first: Finding, _ second: Finding) -> Bool {
        guard first.kind == second.kind else { return first.kind.order < second.kind.order }
        guard first.size == second.size else { return first.size > second.size }
        return first.path.lexicographicallyPrecedes(second.path)
    }

    private var sentence: String {
        ancestor.map { "\(reason) (\(NameEscaping.text($0.bytes)))" } ?? reason
    }

    func writeObject(to buffer: inout OutputBuffer) {
        var line = JSONLine.output()
        line.add("type", "finding")
        line.add("finding", kind.rawValue)
        line.add(path: path)
        line.add("fileAllocatedSize", size)
        line.add("reason", sentence)
        line.add("command", command)
        line.end(in: &buffer)
    }

    func writeLines(to buffer: inout OutputBuffer, isColored: Bool) {
        buffer.append(text: sizeText(size).padded(to: 10) + "  ")
        buffer.append(name: path)
        buffer.append(": ")
        buffer.append(text: kind.rawValue, in: isColored ? .yellow : nil)
        buffer.append(text: ": \(sentence)\n")
        if let command {
            buffer.append("            ")
            // Only words that are quoted for a shell come from elsewhere.
            buffer.append(in: isColored ? .cyan : nil) { $0.append(bytes: Array(command.utf8)) }
            buffer.append("\n")
        }
        buffer.endRecord()
    }
}

extension FilePath {
    var shellWord: String { ShellWord.quoted(bytes) }
}
