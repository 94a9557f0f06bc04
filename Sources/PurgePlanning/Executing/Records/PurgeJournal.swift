import EffectiveValues
import SystemCalls
import SystemPackage

/// The purger's records of what it has put aside, and its lock against other purgers of one user.
///
/// One file of a fixed size, with two places for all records that are written in turn: a crash in the
/// middle of a write leaves the other. The file stays from run to run, so that its blocks are there
/// when the disk is full.
final class PurgeJournal {
    private let file: SharedDescriptor
    private let path: FilePath
    private var sequence: UInt64 = 0
    private(set) var records: [AsideRecord] = []
    /// What the files of records are known by.
    let filesystems = MountedFilesystems()

    /// Opens, and makes where it is missing, the journal in a directory.
    ///
    /// - Throws: ``PurgeRefusal`` `anotherIsAtWork`, and `FileError`: `permissionDenied` for a journal of
    ///   another user, or in a directory of one.
    init(in directory: FilePath) throws {
        try makeStateDirectory(directory)
        path = directory.appending("journal")
        guard let opened = try openStateFile(path, makingIt: true) else {
            throw FileError.opening(.noSuchFileOrDirectory, path)
        }
        file = SharedDescriptor(opened)
        do throws(Errno) {
            try Patience().retry(while: { $0 == .wouldBlock }) { () throws(Errno) in
                guard try takeLock(on: file.descriptor) else { throw .wouldBlock }
            }
            try reserve()
            try read()
        } catch .wouldBlock {
            throw PurgeRefusal.anotherIsAtWork
        } catch {
            throw FileError.changingItem(error, path)
        }
    }

    /// Takes the blocks of both places; on a full disk that is tried again by the next run.
    private func reserve() throws(Errno) {
        let size = try file.descriptor.status().size
        guard size < Int64(2 * placeSize) else { return }
        if size == 0 {
            // Only btrfs knows this and needs it; elsewhere it fails.
            try? setOverwrittenInPlace(file.descriptor)
        }
        // What is there may be records, of a run that found no room for all of it.
        let zeros = [UInt8](repeating: 0, count: 2 * placeSize - Int(size))
        do throws(Errno) {
            try write(zeros, at: Int(size))
        } catch .noSpace, .diskQuotaExceeded {
            return
        }
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(Errno) {
        var failure: Errno?
        bytes.withUnsafeBytes { bytes in
            do throws(Errno) {
                try writeFile(file.descriptor, bytes, at: Int64(offset))
                try synchronize(file.descriptor)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    private func read() throws(Errno) {
        let places = [try placeContents(0), try placeContents(1)]
        guard let newest = places.compactMap(JournalContents.init).max(by: { $0.isOlder(than: $1) })
        else { return }
        sequence = newest.sequence
        records = newest.records
    }

    private func placeContents(_ place: Int) throws(Errno) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: placeSize, alignment: 8)
        defer { buffer.deallocate() }
        var count = 0
        while count < placeSize {
            let part = try readFile(
                file.descriptor, at: Int64(place * placeSize + count),
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            if part == 0 { break }
            count += part
        }
        return Array(buffer[..<count])
    }

    /// Stores a record in place of the one of the same directory, without its inodes where there is no
    /// room for them; it is on the disk when this returns.
    func store(_ record: AsideRecord) throws(FileError) {
        let others = records.filter { $0.asidePath != record.asidePath }
        do throws(FileError) {
            try replace(others + [record])
        } catch {
            guard error.code == .tooLarge, record.knownInodes != nil else { throw error }
            var shorter = record
            shorter.knownInodes = nil
            try replace(others + [shorter])
        }
    }

    /// Forgets a record; that is on the disk when this returns.
    func remove(_ record: AsideRecord) throws(FileError) {
        try replace(records.filter { $0.asidePath != record.asidePath })
    }

    private func replace(_ new: [AsideRecord]) throws(FileError) {
        let contents = JournalContents(sequence: sequence &+ 1, records: new)
        guard let bytes = contents.bytes(upTo: placeSize) else {
            throw FileError(
                code: .tooLarge, message: "too much is put aside, or its path is too long",
                advice: "look for .resval-purge-* that was left", path: path)
        }
        do throws(Errno) {
            try write(bytes, at: Int(contents.sequence % 2) * placeSize)
        } catch {
            throw .changingItem(error, path)
        }
        sequence = contents.sequence
        records = new
    }
}

private let placeSize = 1 << 16
