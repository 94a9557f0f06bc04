import SystemCalls
import SystemPackage

/// One item of a random home: what the model knows of it.
final class RandomItem {
    enum Kind { case file, directory, link, fifo }
    enum Mark { case purgeable, kept, malformed }

    let name: String
    let kind: Kind
    private(set) weak var parent: RandomItem?
    private(set) var children: [RandomItem] = []
    var mark: Mark?
    var isYoung = false
    var isForeign = false
    var isWritableByOthers = false
    /// Open, locked or worked in by somebody.
    var isUsed = false
    /// Whether a document is another name of it.
    var isLinked = false
    /// Whether it was changed or moved after the plan.
    var isChanged = false
    var identity: FileIdentity?

    init(_ name: String, _ kind: Kind, in parent: RandomItem?) {
        self.name = name
        self.kind = kind
        self.parent = parent
        parent?.children.append(self)
    }

    /// The item, and all below it.
    var all: [RandomItem] { [self] + children.flatMap(\.all) }

    /// The items above, the nearest first.
    var ancestors: [RandomItem] { parent.map { [$0] + $0.ancestors } ?? [] }

    /// The path from the home.
    var path: String {
        let names = ancestors.reversed().dropFirst().map(\.name) + [name]
        return names.joined(separator: "/")
    }
}

/// What may be deleted of a random home, by the words of the semantics and slowly: for each item its
/// outermost unit is looked at as a whole.
struct PurgeModel {
    static func mayDelete(_ item: RandomItem) -> Bool {
        let line = [item] + item.ancestors
        guard let unit = line.last(where: { isUnit($0) }) else { return false }
        return isFit(unit)
    }

    private static func isUnit(_ item: RandomItem) -> Bool {
        guard item.parent != nil else { return false }
        if item.mark == .purgeable, !item.isWritableByOthers { return true }
        let above = item.ancestors.map(\.name)
        // The home has no name.
        guard let cache = above.firstIndex(of: ".cache"), cache == above.count - 2 else {
            return false
        }
        return item.kind != .directory || cache >= 1
    }

    private static func isFit(_ unit: RandomItem) -> Bool {
        let protectedNames = ["Documents", ".ssh", ".config"]
        let line = [unit] + unit.ancestors
        if line.contains(where: { protectedNames.contains($0.name) && $0.ancestors.count == 1 }) {
            return false
        }
        if line.contains(where: { $0.mark == .kept || $0.mark == .malformed }) { return false }
        if unit.ancestors.contains(where: \.isLockedAbove) { return false }
        // A home is an ancestor of what is protected.
        if unit.name == ".cache" { return false }
        if unit.kind != .directory {
            let siblings = unit.parent?.children.map(\.name) ?? []
            let ends = ["-wal", "-shm", "-journal"]
            if ends.contains(where: { unit.name.hasSuffix($0) }) { return false }
            if ends.contains(where: { siblings.contains(unit.name + $0) }) { return false }
            if unit.isLinked { return false }
        }
        return unit.all.allSatisfy { item in
            item.mark != .kept && item.mark != .malformed && !item.isYoung && !item.isForeign
                && !item.isUsed && !item.isChanged && item.kind != .fifo
                && item.name != ".git" && item.name != "pyvenv.cfg"
        }
    }
}

extension RandomItem {
    /// Whether a lock on it protects what is below.
    fileprivate var isLockedAbove: Bool { isUsed && kind == .directory && locksBelow }
    var locksBelow: Bool { name.hasPrefix("locked") }
}
