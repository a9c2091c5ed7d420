import SwiftDiagnostics
import SwiftSyntax

/// Every misuse of the model macros, with the message that the compiler shows.
enum ModelProblem {
    // The type.
    case notAClassOrStruct
    case classNotFinal(String)
    case generic
    case namedLikeModule
    case initializer

    // Its key.
    case noPrimaryKey(String)
    case optionalKey(String)
    case rowidKey(String)
    case jsonKey(String)
    case idBesideKey(String, hasColumn: Bool)
    case reservedInKey(String)

    // Its properties.
    case severalBindings
    case notAName
    case noType(String)
    case constant(String)
    case lazyProperty(String)
    case weakProperty(String, modifier: String)
    case unsafeProperty(String)
    case observers(String)
    case restrictedSetter(String)
    case wrapped(String, String)
    case reserved(String, hasColumn: Bool)
    case duplicateColumn(String)
    case implicitlyUnwrapped(String)
    case transientWithoutDefault(String)
    case conditional(String, mayBeTransient: Bool)

    // Their markers.
    case nameNotLiteral
    case emptyName
    case conflicting(String, String)
    case repeated(String, String)
    case conditionalAttribute(String)
    case markerOnShared(String, String)
    case markerOnComputed(String, String)
    case markerOutsideProperty(String)
    case markerOutsideModel(String)

    var message: String {
        switch self {
        case .notAClassOrStruct:
            "'@Model' goes on a final class (live objects) or on a struct (values)"
        case .classNotFinal(let name):
            "the model class '\(name)' must be final: each row has one object of one type"
        case .generic:
            "a model cannot be generic, nor stand in a generic type: it stands for one table"
        case .namedLikeModule:
            "a model cannot be named 'Store', like the module: rename the type and keep the table with '@Model(table: \"Store\")'"
        case .initializer:
            "a model class cannot have initializers of its own: objects are made by 'create', 'find' and queries"
        case .noPrimaryKey(let name):
            "'\(name)' has no primary key: name a property 'id', or mark one or several with '@PrimaryKey'"
        case .optionalKey(let name):
            "the primary key '\(name)' cannot be optional"
        case .rowidKey(let name):
            "'\(name)' cannot be minted by SQLite: a rowid key is one property of type Int64 or Int"
        case .jsonKey(let name):
            "the primary key '\(name)' cannot be stored as JSON: one value may have several texts"
        case .idBesideKey(let key, let hasColumn):
            "'id' is the whole primary key of every model, here \(key); " + renaming("id", hasColumn: hasColumn)
        case .reservedInKey(let name):
            "'\(name)' is a name that every composite key has already; " + renaming(name, hasColumn: true)
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
        case .weakProperty(let name, let modifier):
            "'\(name)' cannot be '\(modifier)': a row holds values, no objects; name another row by its key, as a 'Ref'"
        case .unsafeProperty(let name):
            "'\(name)' needs no 'nonisolated(unsafe)': a lock guards the values of a model"
        case .observers(let name):
            "'\(name)' cannot have observers: listen to 'changes(in:)'"
        case .restrictedSetter(let name):
            "'\(name)' has no setter to restrict: properties of a model change only inside 'save'"
        case .wrapped(let attribute, let name):
            "'\(name)' cannot carry '@\(attribute)': a model keeps its values itself; mark it '@Transient' and wrap it by hand"
        case .reserved(let name, let hasColumn):
            "'\(name)' is a name that every model has already; " + renaming(name, hasColumn: hasColumn)
        case .duplicateColumn(let column):
            "the column '\(column)' already belongs to another property"
        case .implicitlyUnwrapped(let name):
            "'\(name)' cannot be implicitly unwrapped: use '?' or a plain type"
        case .transientWithoutDefault(let name):
            "the transient property '\(name)' needs a default value: no column can give it one"
        case .conditional(let name, let mayBeTransient):
            "'\(name)' stands inside of '#if', and '@Model' cannot see which branch is built: declare it outside"
                + (mayBeTransient ? ", or mark it '@Transient'" : "")
        case .nameNotLiteral:
            "the name must be a plain string literal: the macro reads it when compiling"
        case .emptyName:
            "the name must not be empty"
        case .conflicting(let first, let second):
            "'@\(first)' and '@\(second)' exclude each other"
        case .repeated(let marker, let name):
            "'\(name)' carries '@\(marker)' twice: write it once, with all that it says"
        case .conditionalAttribute(let name):
            "'\(name)' has attributes inside of '#if', and '@Model' cannot see which branch is built: write them outside"
        case .markerOnShared(let marker, let name):
            "'@\(marker)' does nothing on '\(name)': a static property has no column"
        case .markerOnComputed(let marker, let name):
            "'@\(marker)' does nothing on '\(name)': a computed property has no column"
        case .markerOutsideProperty(let marker):
            "'@\(marker)' goes on a stored property of a model"
        case .markerOutsideModel(let marker):
            "'@\(marker)' does nothing here: it goes on a stored property of a type that is marked with '@Model'"
        }
    }

    /// The diagnostic of this problem at `node`.
    func at(_ node: some SyntaxProtocol, fixIts: [FixIt] = []) -> Diagnostic {
        Diagnostic(node: Syntax(node), message: ModelMessage(problem: self), fixIts: fixIts)
    }

    /// The advice for a name that is reserved.
    private func renaming(_ name: String, hasColumn: Bool) -> String {
        hasColumn ? "rename the property and keep the column with '@Column(\"\(name)\")'" : "rename it"
    }
}

/// Adapts a problem to SwiftDiagnostics.
private struct ModelMessage: DiagnosticMessage {
    let problem: ModelProblem

    var message: String { problem.message }
    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID {
        let name = Mirror(reflecting: problem).children.first?.label ?? "\(problem)"
        return MessageID(domain: "Store.Model", id: name)
    }
}
