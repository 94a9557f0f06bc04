import SystemCalls

/// The code of the error that `body` throws; nil when it throws none.
package func code<Result>(_ body: () throws -> Result) -> FileError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? FileError)?.code
    }
}
