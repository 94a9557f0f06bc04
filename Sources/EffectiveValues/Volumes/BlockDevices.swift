import SystemCalls
import SystemPackage

/// The block devices beneath a filesystem, as described by sysfs.
package struct BlockDevices: Sendable {
    private let sysfs: FilePath

    /// - Parameter sysfs: its mount point.
    package init(sysfs: FilePath = "/sys") { self.sysfs = sysfs }

    /// Returns the kernel's names of the devices beneath a mount, such as `sda1` or `dm-0`; empty
    /// when there are none.
    package func names(beneath mount: Mount) -> [String] {
        if deviceMajor(mount.device) != 0 {
            let number = "\(deviceMajor(mount.device)):\(deviceMinor(mount.device))"
            return linkName(["dev", "block", number]).map { [$0] } ?? []
        }
        guard mount.filesystemType == "btrfs" else { return [] }
        return btrfsMembers(FilePath(bytes: mount.source))
    }

    /// Whether a device is a drive or a part of one, and so remains what it is while it is in use:
    /// what a device consists of that is made of others (device mapper, md, bcache) can change.
    package func isDrive(_ name: String) -> Bool {
        let drive = drive(name)
        return exists(drive + ["slaves"]) && !exists(drive + ["dm"]) && !exists(drive + ["md"])
            && entries(drive + ["slaves"]).isEmpty
    }

    /// Whether dm-crypt encrypts a device: the device itself, or all the devices it is made of.
    ///
    /// - Returns: nil when sysfs does not contain the device.
    package func isEncrypted(_ name: String) -> Bool? {
        isEncrypted(name, depth: 0)
    }

    /// Whether the medium can be removed from the drive; nil when sysfs does not say.
    package func isRemovable(_ name: String) -> Bool? {
        text(drive(name) + ["removable"]).map { $0 == "1" }
    }

    private func isEncrypted(_ name: String, depth: Int) -> Bool? {
        let device = ["class", "block", name]
        guard depth < deepestStack, exists(device) else { return nil }
        if let uuid = text(device + ["dm", "uuid"]), isEncrypting(uuid) { return true }
        let parts = entries(device + ["slaves"])
        if parts.isEmpty { return false }
        return common(parts.map { isEncrypted($0, depth: depth + 1) })
    }

    /// Whether a device mapper UUID is that of an encrypting device. cryptsetup uses the same
    /// prefix for devices that only verify.
    private func isEncrypting(_ uuid: String) -> Bool {
        uuid.hasPrefix("CRYPT-") && !uuid.hasPrefix("CRYPT-VERITY-")
            && !uuid.hasPrefix("CRYPT-INTEGRITY-")
    }

    private func btrfsMembers(_ source: FilePath) -> [String] {
        guard let path = try? realPath(of: source), let name = path.lastComponent?.string
        else { return [] }
        for volume in entries(["fs", "btrfs"]) {
            let members = entries(["fs", "btrfs", volume, "devices"])
            if members.contains(name) { return members }
        }
        return [name]
    }

    /// Returns the sysfs directory of the whole drive, also for a partition.
    private func drive(_ name: String) -> [String] {
        let device = ["class", "block", name]
        return exists(device + ["partition"]) ? device + [".."] : device
    }
}

/// The maximum depth of stacked devices, more than occurs in practice; ends the search when sysfs
/// has a cycle.
private let deepestStack = 16

// Any of these files may be missing, so every failure means that the fact is unknown.
extension BlockDevices {
    private func path(_ names: [String]) -> FilePath {
        FilePath(names.reduce(into: "\(sysfs)") { $0 += "/" + $1 })
    }

    private func exists(_ names: [String]) -> Bool { (try? path(names).status()) != nil }

    private func text(_ names: [String]) -> String? {
        guard let bytes = try? contentsOfFile(path(names)) else { return nil }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    private func linkName(_ names: [String]) -> String? {
        (try? symbolicLinkTarget(path(names).withoutFollowing))?.lastComponent?.string
    }

    private func entries(_ names: [String]) -> [String] {
        readableNames(in: path(names)).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }
}

/// Returns the answer that all devices agree on: false when one answers false, nil when one is unknown or
/// there are none.
func common(_ answers: [Bool?]) -> Bool? {
    if answers.isEmpty { return nil }
    if answers.contains(false) { return false }
    return answers.contains(nil) ? nil : true
}

/// Returns the name of udev's symbolic link to a device, by the device's contents and with the escapes
/// undone; nil when there is none.
///
/// - Parameters:
///   - device: the kernel's name of the device, such as `sda1`.
///   - directory: the links, such as `/dev/disk/by-uuid`.
package func diskLink(to device: String, in directory: FilePath) -> [UInt8]? {
    var found: [UInt8]?
    // Without udev the directory does not exist, and no device is found.
    try? forEachName(in: directory) { name in
        let link = directory.appending(FilePath(bytes: name).components)
        let target = try? symbolicLinkTarget(link.withoutFollowing)
        if target?.lastComponent?.string == device { found = unescaped(name) }
        return found == nil
    }
    return found
}

/// Undoes udev's escapes: it writes unsafe bytes as `\xHH`.
private func unescaped(_ name: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = name[...]
    while let byte = rest.popFirst() {
        let digits = rest.dropFirst().prefix(2)
        if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"), digits.count == 2,
            let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        {
            bytes.append(value)
            rest.removeFirst(3)
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}
