import EffectiveValues
import ResourceValues
import SystemCalls
import SystemPackage

/// Returns the command that restores the content of an evicted file.
func downloadCommand(for path: FilePath?) -> String {
    "resval-backup download \(path.map { ShellWord.quoted($0.bytes) } ?? "")"
}

extension FileError {
    /// Returns the error of a change, with what to do where the file is evicted: nothing can be stored
    /// on a file without permission bits, and giving it some would show zeros as its content.
    func explained(
        on location: borrowing some FileLocation & ~Copyable
    ) -> FileError {
        guard code == .permissionDenied, (try? location.evictionRecord()) != nil else {
            return self
        }
        var error = self
        error.message = "the file is evicted, so nothing can be stored on it"
        error.advice = "first: \(downloadCommand(for: path))"
        return error
    }
}
