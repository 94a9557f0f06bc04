import Glibc
import ResourceValues
import SystemCalls
import SystemPackage

/// Everything about the items of a tree that a restore must bring back, by path from its top.
///
/// Names of one file are told by the first of them, in byte order.
package struct TreeListing: Equatable {
    package private(set) var items: [[UInt8]: String] = [:]
    private var firstNames: [FileIdentity: [UInt8]] = [:]

    /// - Parameter root: a directory.
    package init(of root: FilePath) throws { try add(root, []) }

    /// Nothing at all.
    package init() {}

    /// What is known about an item; empty for none.
    package func text(at path: [UInt8]) -> String { items[path] ?? "" }

    /// Drops the items that a closure names.
    package mutating func remove(where isRemoved: ([UInt8]) -> Bool) {
        items = items.filter { !isRemoved($0.key) }
    }

    /// The paths of the items that are not the same in another listing, sorted.
    package func differingPaths(from other: TreeListing) -> [[UInt8]] {
        Set(items.keys).union(other.items.keys).sorted { $0.lexicographicallyPrecedes($1) }
            .filter { items[$0] != other.items[$0] }
    }

    /// What differs from another listing, for people.
    package func differences(from other: TreeListing) -> [String] {
        differingPaths(from: other)
            .map {
                "\(quotedForMessages($0)): \(items[$0] ?? "absent") / "
                    + (other.items[$0] ?? "absent")
            }
    }

    private mutating func add(_ path: FilePath, _ name: [UInt8]) throws {
        let status = try path.withoutFollowing.status()
        var text = "\(status.kind) \(String(status.permissions, radix: 8)) \(status.owner)"
        text += " \(status.contentModificationTime.seconds)"
        text += ".\(status.contentModificationTime.nanoseconds)"
        if status.kind.canStoreUserAttributes {
            for attribute in try path.extendedAttributeNames().sorted(by: {
                $0.bytes.lexicographicallyPrecedes($1.bytes)
            }) {
                let value = try path.extendedAttribute(named: attribute) ?? []
                text += " \(attribute)=\(quotedForMessages(value))"
            }
        }
        if let device = status.representedDevice { text += " \(device)" }
        switch status.kind {
        case .regularFile:
            let content = try contentsOfFile(path)
            text += " \(content.count) \(content.reduce(5381) { ($0 &* 33) ^ Int($1) })"
            if status.linkCount > 1 {
                let first = firstNames[status.identity] ?? name
                firstNames[status.identity] = first
                text += " same as \(quotedForMessages(first))"
            }
        case .symbolicLink:
            text += " to \(quotedForMessages(try symbolicLinkTarget(path.withoutFollowing).bytes))"
        case .directory:
            for entry in try names(in: path) {
                try add(path.appending(entry), name + [UInt8(ascii: "/")] + entry.bytes)
            }
        default: break
        }
        items[name] = text
    }

    private func names(in path: FilePath) throws -> [FileName] {
        guard let stream = path.withPlatformString({ opendir($0) }) else {
            throw Errno(rawValue: errno)
        }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name != [0x2E] && name != [0x2E, 0x2E] { names.append(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { FileName($0) }
    }
}
