import Foundation
import GRDB
import Journal

extension Value {
    /// The value as a GRDB value.
    ///
    /// - Throws: ``StoreError/Code/unstorable`` for text that is not valid UTF-8, which GRDB's values cannot
    ///   hold.
    var databaseValue: DatabaseValue {
        get throws {
            switch self {
            case .null: return .null
            case .integer(let number): return number.databaseValue
            case .real(let number): return number.databaseValue
            case .blob(let bytes): return Data(bytes).databaseValue
            case .text(let bytes):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw StoreError(
                        .unstorable, "The text is not valid UTF-8", hint: "Give valid UTF-8, or the bytes as a BLOB.")
                }
                return text.databaseValue
            }
        }
    }

    init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob(Bytes(data))
        }
    }
}
