import SystemCalls
import SystemPackage

/// The filesystems mounted in this process's view.
public struct MountTable: Sendable, Hashable {
    /// The mounts, in the kernel's order.
    public let mounts: [Mount]
    /// The mount points of network and FUSE filesystems, except `/` and those above local
    /// filesystems, which cannot be avoided.
    package private(set) var remoteMountPoints: Set<FilePath> = []
    private let children: [Int: [Int]]

    /// Parses the contents of a file in the format of `/proc/self/mountinfo`. Ignores lines that
    /// are not in this format, and mounts whose directory was removed.
    public init(mountinfo: [UInt8]) {
        mounts = mountinfo.split(separator: UInt8(ascii: "\n")).compactMap { Mount(line: $0) }
        children = Dictionary(grouping: mounts.indices) { [mounts] in mounts[$0].parent }
        let points = mounts.filter(\.isRemote).map(\.mountPoint).filter { point in
            point != "/" && mount(holding: point)?.isRemote == true
                && !mounts.contains { $0.category == .local && $0.mountPoint.isHeld(by: point) }
        }
        remoteMountPoints = Set(points)
    }

    /// Reads `/proc/self/mountinfo`.
    ///
    /// - Throws: ``FileError`` when it cannot be opened or read, for example where `/proc` is not
    ///   mounted.
    public static func current() throws(FileError) -> MountTable {
        MountTable(mountinfo: try contentsOfFile("/proc/self/mountinfo"))
    }

    /// Returns the mount that contains a path; nil when the table does not say.
    ///
    /// - Parameter path: a real path.
    public func mount(holding path: FilePath) -> Mount? {
        let numbers = Set(mounts.map(\.number))
        let tops = mounts.indices.filter { !numbers.contains(mounts[$0].parent) }
        // In a chroot that is not a mount point, the table does not say which mount `/` is on.
        let nearest = tops.filter { path.isHeld(by: mounts[$0].mountPoint) }
            .min { mounts[$0].mountPoint.length < mounts[$1].mountPoint.length }
        guard var current = tops.first(where: { mounts[$0].mountPoint == "/" }) ?? nearest
        else { return nil }
        // A lookup crosses mount points in order, the nearest to `/` first. Each step crosses one
        // mount; the bound only ends the search when the table has a cycle.
        for _ in mounts {
            guard let next = nextMount(from: current, towards: path) else { break }
            current = next
        }
        return mounts[current]
    }

    /// Returns the mount with a mount ID, as reported by `statx(2)`; nil when the table has none.
    func mount(numbered number: Int) -> Mount? { mounts.first { $0.number == number } }

    /// Whether accessing a path may block forever, waiting for a server or for a program behind a
    /// FUSE mount.
    ///
    /// - Parameter path: a real path.
    package func isRemote(_ path: FilePath) -> Bool {
        remoteMountPoints.contains { path.isHeld(by: $0) }
    }

    private func nextMount(from current: Int, towards path: FilePath) -> Int? {
        children[mounts[current].number, default: []]
            .filter { $0 != current && path.isHeld(by: mounts[$0].mountPoint) }
            .min { mounts[$0].mountPoint.length < mounts[$1].mountPoint.length }
    }
}

/// Returns the mount points in the contents of a file in the format of fstab(5), whether anything is
/// mounted there or not.
package func mountPoints(inFstab contents: [UInt8]) -> [FilePath] {
    contents.split(separator: UInt8(ascii: "\n")).compactMap { line in
        let fields = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard fields.count >= 3, fields[0].first != UInt8(ascii: "#"),
            fields[1].first == UInt8(ascii: "/")
        else { return nil }
        return FilePath(bytes: unescaped(fields[1]))
    }
}

extension Mount {
    /// Finds a mount by its ID, as reported by `statx(2)`, in the contents of
    /// `/proc/self/mountinfo`. Other lines are not parsed.
    init?(numbered number: Int, in mountinfo: [UInt8]) {
        let start = Array("\(number) ".utf8)
        let line = mountinfo.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: start) }
        guard let line else { return nil }
        self.init(line: line)
    }

    /// Parses a line; nil when it is not in the format of mountinfo.
    fileprivate init?(line: ArraySlice<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: " "))
        guard fields.count >= 9,
            let hyphen = fields[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
            fields.count > hyphen + 2,
            let number = Int(text(fields[0])), let parent = Int(text(fields[1])),
            let device = deviceNumber(fields[2])
        else { return nil }
        let mountPoint = unescaped(fields[4])
        guard !mountPoint.hasSuffix("//deleted") else { return nil }
        let options = [fields[5]] + fields[(hyphen + 3)...].prefix(1)
        self.init(
            number: number, parent: parent, device: device,
            root: FilePath(bytes: unescaped(fields[3])), mountPoint: FilePath(bytes: mountPoint),
            filesystemType: text(unescaped(fields[hyphen + 1])[...]),
            source: unescaped(fields[hyphen + 2]),
            isReadOnly: options.contains { contains("ro", $0) },
            leavesAccessTimes: contains("noatime", fields[5]),
            layers: overlayLayers(of: text(fields[hyphen + 1]), options.last ?? []))
    }
}

private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

private func contains(_ option: String, _ options: ArraySlice<UInt8>) -> Bool {
    options.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(option.utf8) }
}

private let layerOptions: Set<String> = [
    "upperdir", "workdir", "lowerdir", "lowerdir+", "datadir+",
]

/// Returns the directories in the options of an overlay. A backslash escapes a colon or a
/// backslash, but only in some options, so each value is returned both split and whole.
private func overlayLayers(of type: String, _ options: ArraySlice<UInt8>) -> [FilePath] {
    guard type == "overlay" else { return [] }
    let backslash = UInt8(ascii: "\\")
    let layers = options.split(separator: UInt8(ascii: ",")).flatMap { option -> [[UInt8]] in
        guard let equals = option.firstIndex(of: UInt8(ascii: "=")),
            layerOptions.contains(text(option[..<equals]))
        else { return [] }
        let value = unescaped(option[(equals + 1)...])
        var parts: [[UInt8]] = [[]]
        var isEscaped = false
        for byte in value {
            if byte == UInt8(ascii: ":"), !isEscaped {
                parts.append([])
            } else if byte != backslash || isEscaped {
                parts[parts.count - 1].append(byte)
            }
            isEscaped = byte == backslash && !isEscaped
        }
        return parts + [value]
    }
    return Set(layers.filter { !$0.isEmpty }).map { FilePath(bytes: $0) }
}

private func deviceNumber(_ field: ArraySlice<UInt8>) -> UInt64? {
    let numbers = field.split(separator: UInt8(ascii: ":")).map { UInt32(text($0)) }
    guard numbers.count == 2, let major = numbers[0], let minor = numbers[1] else { return nil }
    return SystemCalls.deviceNumber(major: major, minor: minor)
}

/// Undoes the kernel's escapes: a backslash and three octal digits represent a byte.
private func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
        let digits = rest.prefix(3)
        guard byte == UInt8(ascii: "\\"), digits.count == 3,
            let value = UInt8(text(digits), radix: 8)
        else {
            bytes.append(byte)
            continue
        }
        bytes.append(value)
        rest.removeFirst(3)
    }
    return bytes
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: String) -> Bool {
        self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}

/// A part of a filesystem, identified by device and by path within it, the same through every
/// mount.
package struct FilesystemPart: Sendable, Hashable {
    private let device: UInt64
    private let path: FilePath

    /// Creates the part at a path; nil when the table does not contain the path's mount.
    ///
    /// - Parameter real: a real path, as seen by the process whose mount table this is.
    package init?(_ real: FilePath, in mounts: MountTable) {
        guard let mount = mounts.mount(holding: real) else { return nil }
        self.init(real, on: mount)
    }

    /// Creates the part that a mount shows.
    package init(of mount: Mount) {
        device = mount.device
        path = mount.root
    }

    /// Creates the part that a mount covers; nil when that is not visible in the table.
    package init?(beneath mount: Mount, in mounts: MountTable) {
        guard let parent = mounts.mount(numbered: mount.parent), parent != mount,
            mount.mountPoint.isHeld(by: parent.mountPoint)
        else { return nil }
        self.init(mount.mountPoint, on: parent)
    }

    private init(_ path: FilePath, on mount: Mount) {
        device = mount.device
        let below = path.components.dropFirst(mount.mountPoint.components.count)
        self.path = mount.root.appending(below)
    }

    /// Whether this part is `other` or lies in it.
    package func isIn(_ other: FilesystemPart) -> Bool {
        device == other.device && path.isHeld(by: other.path)
    }

    /// Returns the paths that lead to the part, as seen by the process whose mount table this is.
    package func paths(in mounts: MountTable) -> [FilePath] {
        mounts.mounts.filter { $0.device == device && path.isHeld(by: $0.root) }.map { mount in
            mount.mountPoint.appending(path.components.dropFirst(mount.root.components.count))
        }
    }
}
