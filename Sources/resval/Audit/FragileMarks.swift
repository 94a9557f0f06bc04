import EffectiveValues
import ResourceValues
import StoragePolicy
import SystemCalls
import SystemPackage

extension Audit {
    /// Finds a mark whose loss does harm on a file that programs replace when they save it, as git and
    /// many editors do, unless its directory has the same. Of the directory of a ROOT that is not known.
    func fragile(_ item: AuditItem, _ trees: WorkTrees) -> Finding? {
        guard item.status.kind == .regularFile, item.status.linkCount == 1,
            let directory = item.directory
        else { return nil }
        var changes: [String] = []
        if let wanted = item.marks.fileProtection, wanted != .none,
            directory.protectionClass != wanted
        {
            changes.append("fileProtection=\(wanted.rawValue)")
        }
        if item.marks.isPurgeable == false, !directory.purgeability.isProtected {
            changes.append("isPurgeable=false")
        }
        guard !changes.isEmpty else { return nil }
        do throws(Errno) {
            guard let sign = try replacement(of: item, trees) else { return nil }
            let marks = changes.joined(separator: ",")
            return Finding(
                .fragile, item, "\(sign): then \(marks) is lost, unless its directory has it",
                command: "resval set \(marks) \(item.path.removingLastComponent().shellWord)")
        } catch {
            report(.opening(error, item.path))
            return nil
        }
    }

    /// Returns what shows that a file is replaced when it is saved; nil if nothing does.
    private func replacement(
        of item: AuditItem, _ trees: WorkTrees
    ) throws(Errno) -> String? {
        guard let name = item.path.lastComponent?.bytes else { return nil }
        let parent = try item.openParent()
        for (prefix, suffix) in [("", "~"), (".", ".swp"), ("#", "#"), (".#", "")] {
            let sibling = FilePath(bytes: Array(prefix.utf8) + name + Array(suffix.utf8))
            do throws(Errno) {
                _ = try parent.status(of: sibling)
                return "an editor replaces it, as \(prefix)NAME\(suffix) beside it shows"
            } catch .noSuchFileOrDirectory, .fileNameTooLong {
                continue
            }
        }
        guard try trees.tracking(of: item.path, in: parent) == .tracked else { return nil }
        return "git tracks it, and replaces it when it updates the work tree"
    }
}
