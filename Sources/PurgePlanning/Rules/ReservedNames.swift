/// Names in shared directories that other programs rely on, whatever their age.
enum ReservedNames {
    /// Why a name is reserved; nil when it is not.
    static func reason(_ name: [UInt8]) -> String? {
        if name.starts(with: "systemd-private-".utf8) {
            return "the private temporary files of a service"
        }
        if name.starts(with: "krb5cc_".utf8) { return "Kerberos tickets" }
        if name.starts(with: ".X".utf8), name.hasSuffix("-lock") { return "the lock of a display" }
        if name.first == UInt8(ascii: "."), name.hasSuffix("-unix") {
            return "a directory for sockets of displays"
        }
        if name.elementsEqual("lost+found".utf8) { return "what the filesystem check found" }
        return nil
    }
}

extension [UInt8] {
    func hasSuffix(_ suffix: String) -> Bool {
        self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
