import SystemCalls
import SystemPackage

/// What sysfs tells about the block devices beneath a filesystem.
package struct BlockDevices: Sendable {
    private let sysfs: FilePath

    /// Creates a look at sysfs.
    ///
    /// - Parameter sysfs: where it is mounted.
    package init(sysfs: FilePath = "/sys") { self.sysfs = sysfs }

    /// The kernel's names of the devices a mount's filesystem lies on, such as `sda1` or `dm-0`; empty
    /// when it lies on none.
    package func names(beneath mount: Mount) -> [String] {
        if deviceMajor(mount.device) != 0 {
            let number = "\(deviceMajor(mount.device)):\(deviceMinor(mount.device))"
            return linkName(["dev", "block", number]).map { [$0] } ?? []
        }
        guard mount.filesystemType == "btrfs" else { return [] }
        return btrfsMembers(FilePath(bytes: mount.source))
    }

    /// Whether dm-crypt lies beneath a device, itself or everything it is made of.
    ///
    /// - Returns: nil when sysfs does not know the device.
    package func isEncrypted(_ name: String) -> Bool? {
        isEncrypted(name, depth: 0)
    }

    /// Whether the medium can be taken out of the drive; nil when sysfs does not tell.
    package func isRemovable(_ name: String) -> Bool? {
        text(drive(name) + ["removable"]).map { $0 == "1" }
    }

    /// Whether the drive can eject its medium; nil when sysfs does not tell.
    package func isEjectable(_ name: String) -> Bool? {
        text(drive(name) + ["events"]).map {
            $0.split(separator: " ").contains("eject_request")
        }
    }

    /// Whether the drive is on a bus inside the machine; nil for devices without a drive of their own.
    package func isInternal(_ name: String) -> Bool? {
        guard let target = link(["class", "block", name]) else { return nil }
        let places = target.components.map(\.string)
        if places.contains("virtual") { return nil }
        return !places.contains { place in
            ["usb", "fw", "thunderbolt"].contains {
                place.hasPrefix($0) && place.dropFirst($0.count).first?.isNumber != false
            }
        }
    }

    /// Whether an ext4 filesystem on a device uses a journal; nil when sysfs does not tell.
    package func hasJournal(ext4 name: String) -> Bool? {
        text(["fs", "ext4", name, "journal_task"]).map { $0 != "<none>" }
    }

    private func isEncrypted(_ name: String, depth: Int) -> Bool? {
        let device = ["class", "block", name]
        guard depth < deepestStack, exists(device) else { return nil }
        if let uuid = text(device + ["dm", "uuid"]), isEncrypting(uuid) { return true }
        let parts = entries(device + ["slaves"])
        if parts.isEmpty { return false }
        let answers = parts.map { isEncrypted($0, depth: depth + 1) }
        if answers.contains(false) { return false }
        return answers.contains(nil) ? nil : true
    }

    /// Whether a device mapper UUID is that of a device which encrypts. cryptsetup gives its prefix also
    /// to devices that only verify.
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

    /// The directory of the whole drive, for a device that is a partition of it.
    private func drive(_ name: String) -> [String] {
        let device = ["class", "block", name]
        return exists(device + ["partition"]) ? device + [".."] : device
    }
}

/// More layers of devices than anybody stacks; ends a table that leads in a circle.
private let deepestStack = 16

// sysfs is asked for what may not be there: every failure means "not told".
extension BlockDevices {
    private func path(_ names: [String]) -> FilePath {
        FilePath(names.reduce(into: "\(sysfs)") { $0 += "/" + $1 })
    }

    private func exists(_ names: [String]) -> Bool { (try? path(names).status()) != nil }

    private func text(_ names: [String]) -> String? {
        guard let bytes = try? contentsOfFile(path(names)) else { return nil }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    private func link(_ names: [String]) -> FilePath? {
        try? symbolicLinkTarget(path(names).withoutFollowing)
    }

    private func linkName(_ names: [String]) -> String? { link(names)?.lastComponent?.string }

    private func entries(_ names: [String]) -> [String] {
        var entries: [String] = []
        try? forEachName(in: path(names)) { name in
            entries.append(String(decoding: name, as: UTF8.self))
            return true
        }
        return entries.sorted()
    }
}
