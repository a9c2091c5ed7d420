import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct StorePlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModelMacro.self, ModelPropertyMacro.self, PropertyMarkerMacro.self,
    ]
}
