import EffectiveValues
import SystemCalls
import SystemPackage

/// Names that a tool cannot tell apart, because bytes that are not UTF-8 all look the same to it.
enum NameDoubles {
    /// An item, and another one that the tool may confuse with it.
    struct Double {
        let path: FilePath
        let other: FilePath

        func loss(by tool: String) -> ListLoss {
            ListLoss(
                path: path,
                reason:
                    "\(tool) cannot tell it from another item, whose name differs only in bytes "
                    + "that \(tool) does not tell apart")
        }
    }

    /// Returns another item on disk that an exclude pattern for this one would match; nil when
    /// there is none.
    ///
    /// - Throws: `FileError` when a directory cannot be read.
    static func double(of item: ExcludedItem) throws(FileError) -> Double? {
        if String(validating: item.path.bytes, as: UTF8.self) != nil { return nil }
        var directory: FilePath = "/"
        for component in item.path.components {
            let name = FilePath(root: nil, [component]).bytes
            if let other = try double(of: name, in: directory) {
                return Double(path: item.path, other: directory.appending(other.components))
            }
            directory.append(component)
        }
        return nil
    }

    private static func double(
        of name: [UInt8], in directory: FilePath
    ) throws(FileError) -> FilePath? {
        if String(validating: name, as: UTF8.self) != nil { return nil }
        let shape = shape(of: name)
        var found: FilePath?
        do throws(Errno) {
            try forEachName(in: directory) { other in
                if other != name && self.shape(of: other) == shape {
                    found = FilePath(bytes: other)
                }
                return found == nil
            }
        } catch {
            throw .readingDirectory(error, directory)
        }
        return found
    }

    /// Returns a name with each run of bytes that are not UTF-8, and of the U+FFFD that represents
    /// them in text, as one byte 0xFF.
    private static func shape(of name: [UInt8]) -> [UInt8] {
        var shape: [UInt8] = []
        for character in name.characters {
            if case .scalar(let scalar) = character, scalar != "\u{FFFD}" {
                shape += character.bytes
            } else if shape.last != 0xFF {
                shape.append(0xFF)
            }
        }
        return shape
    }
}

/// A character of a name, or a byte that is not part of one.
enum NameCharacter {
    case scalar(Unicode.Scalar)
    case byte(UInt8)

    var bytes: [UInt8] {
        switch self {
        case .scalar(let scalar): Array(String(scalar).utf8)
        case .byte(let byte): [byte]
        }
    }
}

extension [UInt8] {
    /// The characters of a name, and each byte that is not part of one.
    var characters: [NameCharacter] {
        var characters: [NameCharacter] = []
        var rest = self[...]
        while let first = rest.first {
            let width = (1...4).first { width in
                String(validating: rest.prefix(width), as: UTF8.self) != nil
            }
            if let width,
                let scalar = String(decoding: rest.prefix(width), as: UTF8.self)
                    .unicodeScalars.first
            {
                characters.append(.scalar(scalar))
                rest = rest.dropFirst(width)
            } else {
                characters.append(.byte(first))
                rest = rest.dropFirst()
            }
        }
        return characters
    }
}

extension BackupPlan {
    /// Returns the file that is stored from a directory whose contents are excluded; nil when there
    /// is none.
    func keptFile(of item: ExcludedItem) -> FilePath? {
        guard let kept = item.reason.keptFile else { return nil }
        let path = item.path.pushing(kept.name)
        return isExcluded(path) ? nil : path
    }

    /// Whether the item itself is among the exclusions, which are sorted by path.
    private func isExcluded(_ path: FilePath) -> Bool {
        var (low, high) = (0, exclusions.count)
        while low < high {
            let middle = (low + high) / 2
            if exclusions[middle].path.precedes(path) { low = middle + 1 } else { high = middle }
        }
        return low < exclusions.count && exclusions[low].path == path
    }
}
