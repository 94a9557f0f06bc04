import ArgumentParser
import CommandSupport
import ResourceValues
import SystemPackage

/// The SOURCEs of a backup.
struct SourceArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The directories and files to back up.", valueName: "source"))
    var sources: [PathArgument]

    @Option(
        help: ArgumentHelp(
            "Exclude files above this size (K, M, G, T for powers of 1024), except those named as "
                + "SOURCEs.",
            valueName: "size"))
    var excludeLargerThan: ByteSize?

    /// Returns the SOURCEs that exist; the others are reported.
    ///
    /// - Throws: `ExitCode` 1 when none exists.
    func present() throws -> [FilePath] {
        let present = sources.filter { source in
            do throws(FileError) {
                _ = try source.path.fileStatus()
                return true
            } catch {
                Messages.write(error)
                return false
            }
        }
        if present.isEmpty { throw ExitCode(1) }
        return present.map(\.path)
    }
}
