import Glibc

/// What a walk must leave as it was, and the memory it took.
struct Surroundings {
    let descriptorCount = names(in: "/proc/self/fd").count
    let workingDirectory = link("/proc/self/cwd")
    let peakKibibytes = highWaterMark()
}

private func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        names.append(
            withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            })
    }
    return names
}

private func link(_ path: String) -> [CChar] {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &target, target.count)
    return Array(target.prefix(max(count, 0)))
}

/// `VmHWM` of `/proc/self/status`; -1 when it cannot be read.
private func highWaterMark() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return -1 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
        let text = String(
            decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard text.hasPrefix("VmHWM:") else { continue }
        return text.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? -1
    }
    return -1
}
