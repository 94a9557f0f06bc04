import CLinux
import SystemPackage

// How files are opened: the flags of open(2) that swift-system has no names for.
extension FileDescriptor.OpenOptions {
    /// To read (`O_RDONLY`).
    package static var readOnly: Self { Self(rawValue: O_RDONLY) }
    /// To write (`O_WRONLY`).
    package static var writeOnly: Self { Self(rawValue: O_WRONLY) }
    /// To read and write (`O_RDWR`).
    package static var readWrite: Self { Self(rawValue: O_RDWR) }
    /// Only to lead other calls to the file, which needs no permission on the file itself (`O_PATH`).
    package static var reference: Self { Self(rawValue: O_PATH) }
    /// A terminal does not become the process's own (`O_NOCTTY`).
    package static var noTerminal: Self { Self(rawValue: O_NOCTTY) }
    /// Reading leaves the time of access alone, which the owner alone may ask for (`O_NOATIME`).
    package static var noAccessTime: Self { Self(rawValue: O_NOATIME) }
}

extension FileDescriptor {
    /// Where relative paths begin (`AT_FDCWD`).
    package static var workingDirectory: FileDescriptor { FileDescriptor(rawValue: AT_FDCWD) }
}
