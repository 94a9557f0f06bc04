#if !canImport(Darwin)
import Foundation

/// The value of one key. The types of most properties are stored inline, without allocation.
enum PropertyValue {
    case boolean(Bool)
    case integer(Int)
    case wide(Int64)
    case unsigned(UInt64)
    case date(Date)
    case text(String)
    indirect case object(Any)

    /// The value as it appears in `allValues`.
    var any: Any {
        switch self {
        case .boolean(let value): value
        case .integer(let value): value
        case .wide(let value): value
        case .unsigned(let value): value
        case .date(let value): value
        case .text(let value): value
        case .object(let value): value
        }
    }
}
#endif
