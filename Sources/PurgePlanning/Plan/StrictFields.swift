import SystemCalls

/// An object whose fields are read strictly: only known ones, each once.
protocol StrictFields {
    /// The type of the complete object.
    associatedtype Whole

    /// Creates an object with no field read.
    init()

    /// The names of the fields read so far.
    var names: Set<String> { get set }
    /// What is wrong with the object, in words; nil for errors of the JSON itself.
    var problem: String? { get set }

    /// Reads the value of a field.
    mutating func read(_ name: String, _ scanner: inout JSONScanner) throws(JSONError)

    /// Returns the complete object, once all fields were read.
    mutating func whole() throws(JSONError) -> Whole
}

extension StrictFields {
    /// Reads the next object.
    mutating func readWhole(_ scanner: inout JSONScanner) throws(JSONError) -> Whole {
        try scanner.forEachField { scanner, name throws(JSONError) in
            guard names.insert(name).inserted else { throw refuse("has the field \(name) twice") }
            try read(name, &scanner)
        }
        return try whole()
    }

    /// Reads the next array of objects.
    ///
    /// - Parameter noun: the noun for one of them in messages.
    mutating func elements<Fields: StrictFields>(
        _ scanner: inout JSONScanner, _ noun: String, _ type: Fields.Type
    ) throws(JSONError) -> [Fields.Whole] {
        guard try !scanner.takesNull() else { throw refuse("has null in place of an array") }
        var found: [Fields.Whole] = []
        try scanner.forEachElement { scanner throws(JSONError) in
            var fields = Fields()
            do throws(JSONError) {
                found.append(try fields.readWhole(&scanner))
            } catch {
                if let problem = fields.problem {
                    throw refuse("\(noun) \(found.count + 1) \(problem)")
                }
                throw error
            }
        }
        return found
    }

    /// Records what is wrong; the first problem is kept.
    ///
    /// - Returns: an error that ends the reading.
    mutating func refuse(_ problem: String) -> JSONError {
        self.problem = self.problem ?? problem
        return JSONError(offset: 0)
    }

    /// Reads a non-negative integer.
    mutating func amount(_ scanner: inout JSONScanner) throws(JSONError) -> Int64 {
        let amount = try scanner.integer()
        guard amount >= 0 else { throw refuse("has a negative amount") }
        return amount
    }

    /// Reads an RFC 3339 time.
    mutating func time(_ scanner: inout JSONScanner) throws(JSONError) -> FileTime {
        guard let time = FileTime(rfc3339: try scanner.string()) else {
            throw refuse("has an invalid time")
        }
        return time
    }

    /// Reads the value of a path field: an absolute path in canonical form.
    ///
    /// - Parameters:
    ///   - name: `path` or `pathBase64`.
    ///   - mayBeTop: whether `/` is accepted.
    /// - Returns: nil for a null `path`, which means that the path is in `pathBase64`.
    mutating func path(
        _ name: String, _ scanner: inout JSONScanner, mayBeTop: Bool = false
    ) throws(JSONError) -> [UInt8]? {
        let isText = name == "path"
        if isText, try scanner.takesNull() { return nil }
        let value = try scanner.string()
        guard let path = isText ? value : Base64.bytes(of: value) else {
            throw refuse("has a path that is not Base64")
        }
        guard (String(validating: path, as: UTF8.self) != nil) == isText else {
            throw refuse("has a path that belongs in \(isText ? "pathBase64" : "path")")
        }
        if mayBeTop, path == [UInt8(ascii: "/")] { return path }
        let names = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let dot = UInt8(ascii: ".")
        guard names.count >= 2, names[0].isEmpty, !path.contains(0),
            names.dropFirst().allSatisfy({ !$0.isEmpty && $0 != [dot] && $0 != [dot, dot] })
        else { throw refuse("has a path that is not absolute, or contains '.', '..' or '//'") }
        return path
    }
}
