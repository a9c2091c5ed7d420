import SwiftCompilerPlugin
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros
@main struct P: CompilerPlugin { let providingMacros: [any Macro.Type] = [] }
