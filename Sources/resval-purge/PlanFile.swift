import CommandSupport
import PurgePlanning
import ResourceValues
import SystemCalls
import SystemPackage

/// Reading and writing of plan files.
enum PlanFile {
    /// Writes a plan for its owner alone; see ``OutputFile``.
    static func write(_ plan: PurgePlan, to file: PathArgument) throws(FileError) {
        let json = plan.json
        guard !file.isDash else { return StandardOutput.shared.write(json) }
        var output = try OutputFile(at: file.path)
        try output.write(json)
        try output.finish()
    }

    /// Reads a plan.
    ///
    /// - Throws: ``FileError`` `malformedValue` when the file is not a valid plan; other codes as
    ///   of opening the file.
    static func read(_ file: PathArgument) throws(FileError) -> PurgePlan {
        // Enough for the two million units of a large disk.
        let bytes = try contentsOfFile(file.path, limit: 1 << 30)
        do throws(PurgePlanError) {
            return try PurgePlan(json: bytes)
        } catch {
            throw FileError(
                code: .malformedValue, message: error.description,
                advice: "make a plan with resval-purge plan --output",
                path: FilePath(bytes: file.bytes))
        }
    }
}
