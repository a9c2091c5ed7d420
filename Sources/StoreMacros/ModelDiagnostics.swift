import SwiftDiagnostics
import SwiftSyntax

/// Every misuse of the model macros, in the words that the compiler shows.
enum ModelProblem {
    case notAClassOrStruct
    case classNotFinal(String)
    case generic
    case initializer
    case noPrimaryKey(String)
    case optionalKey(String)
    case rowidKey(String)
    case severalBindings
    case notAName
    case noType(String)
    case constant(String)
    case lazyProperty(String)
    case observers(String)
    case restrictedSetter(String)
    case wrapped(String, String)
    case reserved(String)
    case duplicateColumn(String)
    case nameNotLiteral
    case emptyName
    case transientWithoutDefault(String)
    case conflicting(String, String)
    case implicitlyUnwrapped(String)
    case markerOutsideProperty(String)

    var message: String {
        switch self {
        case .notAClassOrStruct:
            "'@Model' goes on a final class (live objects) or on a struct (values)"
        case .classNotFinal(let name):
            "the model class '\(name)' must be final: each row has one object of one type"
        case .generic:
            "a model cannot be generic: it stands for one table"
        case .initializer:
            "a model class cannot have initializers of its own: objects are made by 'create', 'find' and queries"
        case .noPrimaryKey(let name):
            "'\(name)' has no primary key: name a property 'id', or mark one or several with '@PrimaryKey'"
        case .optionalKey(let name):
            "the primary key '\(name)' cannot be optional"
        case .rowidKey(let name):
            "'\(name)' cannot be minted by SQLite: a rowid key is one property of type Int64 or Int"
        case .severalBindings:
            "declare each property of a model with a 'var' of its own"
        case .notAName:
            "a property of a model cannot be a tuple pattern"
        case .noType(let name):
            "write the type of '\(name)': it cannot be told from the initial value here"
        case .constant(let name):
            "'\(name)' must be a 'var': its value comes from the row"
        case .lazyProperty(let name):
            "'\(name)' cannot be lazy; a computed property can do this work"
        case .observers(let name):
            "'\(name)' cannot have observers: listen to 'changes(in:)'"
        case .restrictedSetter(let name):
            "'\(name)' has no setter to restrict: properties of a model change only inside 'save'"
        case .wrapped(let attribute, let name):
            "'\(name)' cannot carry '@\(attribute)': a model keeps its values itself; mark it '@Transient' and wrap it by hand"
        case .reserved(let name):
            "'\(name)' is a name that every model has already; rename the property and keep the column with '@Column(\"\(name)\")'"
        case .duplicateColumn(let column):
            "the column '\(column)' already belongs to another property"
        case .nameNotLiteral:
            "the name must be a plain string literal: the macro reads it when compiling"
        case .emptyName:
            "the name must not be empty"
        case .transientWithoutDefault(let name):
            "the transient property '\(name)' needs a default value: no column can give it one"
        case .conflicting(let first, let second):
            "'@\(first)' and '@\(second)' exclude each other"
        case .implicitlyUnwrapped(let name):
            "'\(name)' cannot be implicitly unwrapped: use '?' or a plain type"
        case .markerOutsideProperty(let attribute):
            "'@\(attribute)' goes on a stored property of a model"
        }
    }

    /// The diagnostic of this problem at `node`.
    func at(_ node: some SyntaxProtocol, fixIts: [FixIt] = []) -> Diagnostic {
        Diagnostic(node: Syntax(node), message: ModelMessage(problem: self), fixIts: fixIts)
    }
}

/// A problem as SwiftDiagnostics wants it.
private struct ModelMessage: DiagnosticMessage {
    let problem: ModelProblem

    var message: String { problem.message }
    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID {
        let name = Mirror(reflecting: problem).children.first?.label ?? "\(problem)"
        return MessageID(domain: "Store.Model", id: name)
    }
}

/// The title of a fix-it.
struct ModelFix: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "Store.Model.fix", id: message) }

    /// A fix-it that takes `attribute` out of the list it stands in.
    static func removing(_ attribute: AttributeSyntax, from list: AttributeListSyntax, named name: String) -> FixIt {
        let rest = list.filter { $0.as(AttributeSyntax.self)?.id != attribute.id }
        return replacing("remove '@\(name)'", list, by: rest)
    }

    /// A fix-it with this title that puts `new` in the place of `old`.
    static func replacing(_ title: String, _ old: some SyntaxProtocol, by new: some SyntaxProtocol) -> FixIt {
        FixIt(
            message: ModelFix(message: title),
            changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
}
