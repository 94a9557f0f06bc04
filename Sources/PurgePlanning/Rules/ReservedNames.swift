/// Names in shared directories that other programs rely on, whatever their age.
enum ReservedNames {
    /// Why a name is reserved; nil when it is not.
    static func reason(_ name: some BidirectionalCollection<UInt8>) -> String? {
        switch name.first {
        case UInt8(ascii: "s"):
            let isPrivate =
                name.starts(with: "systemd-private-".utf8)
                || name.elementsEqual("snap-private-tmp".utf8)
            return isPrivate ? "the private temporary files of a service" : nil
        case UInt8(ascii: "k"):
            return name.starts(with: "krb5cc_".utf8) ? "Kerberos tickets" : nil
        case UInt8(ascii: "l"):
            return name.elementsEqual("lost+found".utf8)
                ? "what the filesystem check found" : nil
        case UInt8(ascii: "."):
            if name.starts(with: ".X".utf8), name.hasSuffix("-lock") {
                return "the lock of a display"
            }
            return name.hasSuffix("-unix") ? "a directory for sockets of displays" : ownReason(name)
        default: return nil
        }
    }

    /// Why a name is one that a purge gives: what has it is nobody's cache, nor what is in it.
    static func ownReason(_ name: some BidirectionalCollection<UInt8>) -> String? {
        guard name.first == UInt8(ascii: ".") else { return nil }
        if AsideName.matches(name) { return "a purge put it aside" }
        return TrashName.matches(name) ? "what a purge moved to the trash" : nil
    }
}

extension BidirectionalCollection<UInt8> {
    func hasSuffix(_ suffix: String) -> Bool {
        self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}
