import SystemCalls
import SystemPackage

extension Restic {
    /// Reads files of the repository, or else `restic dump`, which writes a directory as a tar archive:
    /// one process for all files.
    package func readContents(
        below directory: FilePath, in snapshot: String,
        with consumer: @escaping @Sendable (_ path: [UInt8]) -> (any OutputConsumer)?
    ) async throws(BackupError) {
        if let reader = await repositoryReader() {
            let isRead = try await work { isCancelled in
                try reader.readContents(
                    below: directory.bytes, in: snapshot, unless: isCancelled, with: consumer)
            }
            if isRead { return }
        }
        let pipe: (output: FileDescriptor, input: FileDescriptor)
        do throws(Errno) {
            pipe = try makePipe()
        } catch {
            throw backupError(error)
        }
        let output = SharedDescriptor(pipe.output)
        async let reading: Void = readArchive(from: output, with: consumer)
        let dump = ResticCommand(
            "dump", words("--archive=tar"), on: words(snapshot) + [directory.bytes])
        let result: Result<ResticEnd, BackupError>
        do throws(BackupError) {
            result = .success(try await attempt(dump, reading: PipeInput(pipe.input)).end)
        } catch {
            result = .failure(error)
        }
        // Nothing is lost in a pipe; only now does its reader meet the end.
        closeIgnoringErrors(pipe.input)
        await reading
        let end = try result.get()
        guard end.code == 0 else { throw failure(end) }
    }
}

/// Writes output to a pipe. Its reader reads to the end, or closes the pipe.
private struct PipeInput: OutputConsumer {
    private let input: FileDescriptor

    init(_ input: FileDescriptor) { self.input = input }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(BackupError) {
        do throws(Errno) {
            try writeFile(input, bytes)
        } catch {
            throw BackupError(.other, "what restic printed cannot be passed on: \(error)")
        }
    }

    func finish() {}
}

/// Reads an archive on a thread of its own. An archive that ends early is no error here: the program
/// that writes it reports why, and files that did not arrive are read one by one.
private func readArchive(
    from output: SharedDescriptor,
    with consumer: @escaping @Sendable (_ path: [UInt8]) -> (any OutputConsumer)?
) async {
    try? await onOwnThread { _ in
        let reader = try ArchiveReader(.pax, from: output.descriptor)
        // restic removes its lock only after it has written everything; the bytes are not needed.
        defer { _ = try? reader.finish() }
        while let item = try reader.next() {
            guard item.kind == .regularFile, item.hardLink == nil,
                let consumer = consumer([UInt8(ascii: "/")] + item.path)
            else { continue }
            try pass(item, of: reader, to: consumer)
        }
    }
    // Without a thread or memory for the reader nothing was read, and restic would wait forever.
    _ = try? ArchiveInput(output.descriptor, isSummed: false).finish()
}

/// - Throws: ``ArchiveFailure`` when the archive ends early or is damaged.
private func pass(
    _ item: ArchiveMetadata, of reader: ArchiveReader, to consumer: any OutputConsumer
) throws {
    var consumer = consumer
    var size: Int64 = 0
    do {
        while let piece = try reader.nextPiece() {
            guard piece.offset == size else { return }
            try consumer.receive(piece.bytes)
            size += Int64(piece.bytes.count)
        }
        guard size == item.size else { return }
        try consumer.finish()
    } catch is BackupError {
        // The consumer refused this file; the next one may be as it should.
    }
}
