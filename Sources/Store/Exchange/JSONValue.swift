import Foundation
import Journal

extension JSONValue {
    /// The value of a column.
    ///
    /// - Throws: ``ColumnMismatch`` for arrays and other objects.
    var columnValue: Value {
        get throws {
            switch self {
            case .null: return .null
            case .bool(let value): return .integer(value ? 1 : 0)
            case .integer(let number): return .integer(number)
            case .real(let number): return .real(number)
            case .string(let text): return .text(text)
            case .object(let members):
                guard members.count == 1, case .string(let text) = members[0].value else { break }
                switch members[0].name {
                case "blob": if let data = Data(base64Encoded: text) { return .blob(Bytes(data)) }
                case "text": if let data = Data(base64Encoded: text) { return .text(Bytes(data)) }
                case "real": if let number = Double(text), !number.isNaN { return .real(number) }
                default: break
                }
            case .array: break
            }
            throw ColumnMismatch("A JSON array or object cannot be the value of a column")
        }
    }
}
