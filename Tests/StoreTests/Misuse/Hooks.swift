import Foundation
import Store

@Model
final class HookArray {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'didUpdate': it is declared as 'func didUpdate(_ columns: Set<String>)'
    func didUpdate(_ columns: [String]) {}
}

@Model
final class HookAsync {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'didInsert': it is declared as 'func didInsert()'
    func didInsert() async {}
}

@Model
final class HookDidDeleteThrows {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'didDelete': it is declared as 'func didDelete()'
    func didDelete() throws {}
}

@Model
final class HookInOtherLetters {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'didDelete': it is declared as 'func didDelete()'
    func diddelete() {}
}

@Model
final class HookLabel {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'willInsert': it is declared as 'static func willInsert(_ fields: inout
    static func willInsert(fields: inout Fields) throws {}
}

@Model
final class HookNotInout {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'willUpdate': it is declared as 'func willUpdate(_ fields: inout Fields)
    func willUpdate(_ fields: Fields) throws {}
}

@Model
final class HookNotStatic {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'willInsert': it is declared as 'static func willInsert(_ fields: inout
    func willInsert(_ fields: inout Fields) throws {}
}

@Model
final class HookPrivate {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'didInsert': it is declared as 'func didInsert()'
    private func didInsert() {}
}

@Model
final class HookWithoutColumns {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'didUpdate': it is declared as 'func didUpdate(_ columns: Set<String>)'
    func didUpdate() {}
}

@Model
final class MakePrimaryKeyInstance {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'makePrimaryKey': it is declared as 'static func makePrimaryKey() throws ->
    func makePrimaryKey() -> Int64? { 7 }
}

@Model
final class MakePrimaryKeyNotOptional {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'makePrimaryKey': it is declared as 'static func makePrimaryKey() throws ->
    static func makePrimaryKey() -> Int64 { 7 }
}

@Model
final class MakePrimaryKeyOtherType {
    var id: Int64
    var name: String = ""
    // error: Store would not call this 'makePrimaryKey': it is declared as 'static func makePrimaryKey() throws ->
    static func makePrimaryKey() -> String? { "7" }
}

@Model
final class HookOfActor {
    var id: Int64
    var name: String = ""
    // error: Store calls 'didInsert' on the thread that commits, so it belongs to no actor: begin a
    @MainActor func didInsert() {}
}

@Model
final class MakePrimaryKeyOtherThanUUID {
    var id: UUID
    var name: String = ""
    // error: Store would not call this 'makePrimaryKey': it is declared as 'static func makePrimaryKey() throws ->
    static func makePrimaryKey() -> URL? { nil }
}

@Model
final class KeyOfReference {
    var id: UUID
    var name: String = ""
    // error: Store would not call this 'makePrimaryKey': it is declared as 'static func makePrimaryKey() throws ->
    static func makePrimaryKey() -> Ref<Person>? { nil }
}
