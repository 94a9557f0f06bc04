import CLinux
import SystemPackage

// The flags of open(2) that swift-system does not name.
extension FileDescriptor.OpenOptions {
    /// Open for reading (`O_RDONLY`).
    package static var readOnly: Self { Self(rawValue: O_RDONLY) }
    /// Open for writing (`O_WRONLY`).
    package static var writeOnly: Self { Self(rawValue: O_WRONLY) }
    /// Open for reading and writing (`O_RDWR`).
    package static var readWrite: Self { Self(rawValue: O_RDWR) }
    /// Open as a reference for other calls, without permission on the file itself (`O_PATH`).
    package static var reference: Self { Self(rawValue: O_PATH) }
    /// Do not make a terminal the process's controlling terminal (`O_NOCTTY`).
    package static var noTerminal: Self { Self(rawValue: O_NOCTTY) }
    /// Do not update the access time on reads; permitted to the owner only (`O_NOATIME`).
    package static var noAccessTime: Self { Self(rawValue: O_NOATIME) }
}

extension FileDescriptor {
    /// The working directory, from which relative paths start (`AT_FDCWD`).
    package static var workingDirectory: FileDescriptor { FileDescriptor(rawValue: AT_FDCWD) }
}
