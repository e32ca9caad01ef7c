"""Small tools of clang and LLVM, each linked statically with the libraries of libclang-14-dev and llvm-14-dev.

Each has one source, and calls what it is named for, so the linker takes in what that needs: from the reader of a language
to all targets. The order of libraries is found by --start-group, as in other projects that link them by hand."""
import os
import shutil
import subprocess

# Name: what it needs of clang, what of LLVM (names of llvm-config), headers, the body of main.
ASTS = "Frontend Driver Serialization Parse Sema Edit Analysis AST ASTMatchers Lex Basic"
TOOLING = "Tooling ToolingCore ToolingInclusions Format Rewrite RewriteFrontend " + ASTS
CHECKS = " ".join("Tidy%sModule" % name for name in (
    "Abseil", "Altera", "Android", "Boost", "Bugprone", "CERT", "Concurrency", "CppCoreGuidelines", "Darwin", "Fuchsia", "Google", "HICPP",
    "LLVM", "LLVMLibc", "LinuxKernel", "MPI", "Misc", "Modernize", "ObjC", "OpenMP", "Performance", "Portability", "Readability", "Zircon"))
ANALYZER = "StaticAnalyzerFrontend StaticAnalyzerCheckers StaticAnalyzerCore CrossTU Index "
TOOLS = {
    "tidy": ("TidyMain TidyPlugin %s TidyUtils Tidy AnalysisFlowSensitive Transformer %s%s" % (CHECKS, ANALYZER, TOOLING), "all",
             [], "return clang::tidy::clangTidyMain(argc, (const char **)argv);"),
    "match": (TOOLING, "all", ["clang/ASTMatchers/ASTMatchFinder.h"],
              "clang::ast_matchers::MatchFinder finder; return argc > 9 ? (finder.matchAST(*(clang::ASTContext *)argv), 1) : 0;"),
    "syntax": (TOOLING, "frontendopenmp option support", ["clang/Tooling/Tooling.h", "clang/Frontend/FrontendActions.h"],
               "return !clang::tooling::runToolOnCode(std::make_unique<clang::SyntaxOnlyAction>(), argv[argc - 1]);"),
    "analyze": (ANALYZER + TOOLING, "all", ["clang/Tooling/Tooling.h", "clang/StaticAnalyzer/Frontend/FrontendActions.h"],
                "return !clang::tooling::runToolOnCode(std::make_unique<clang::ento::AnalysisAction>(), argv[argc - 1]);"),
    "codegen": ("CodeGen " + TOOLING, "all", ["clang/Tooling/Tooling.h", "clang/CodeGen/CodeGenAction.h", "llvm/Passes/PassPlugin.h"],
                "return !clang::tooling::runToolOnCode(std::make_unique<clang::EmitLLVMOnlyAction>(), argv[argc - 1]);"),
    "format": ("Format ToolingInclusions ToolingCore Rewrite Lex Basic", "support", ["clang/Format/Format.h"],
               "clang::format::FormatStyle style = clang::format::getLLVMStyle();"
               "return (int)clang::format::reformat(style, argv[argc - 1], {clang::tooling::Range(0, 1)}).size();"),
    "lexer": ("Lex Basic", "support", ["clang/Lex/Lexer.h"],
              "clang::LangOptions options; clang::Lexer lexer(clang::SourceLocation(), options, argv[0], argv[0], argv[0]);"
              "clang::Token token; return lexer.LexFromRawLexer(token);"),
    "driver": ("Driver Basic", "all", ["clang/Driver/Driver.h", "clang/Driver/Compilation.h", "llvm/Support/VirtualFileSystem.h"],
               "clang::DiagnosticsEngine engine(new clang::DiagnosticIDs, new clang::DiagnosticOptions);"
               "clang::driver::Driver driver(argv[0], \"x86_64-linux-gnu\", engine);"
               "return driver.BuildCompilation({argv, argv + argc}) == nullptr;"),
    "opt": ("", "passes irreader bitwriter", ["llvm/Passes/PassBuilder.h"],
            "llvm::PassBuilder builder; llvm::ModulePassManager passes;"
            "return !!builder.parsePassPipeline(passes, argv[argc - 1]);"),
    "link": ("", "linker irreader bitwriter",
             ["llvm/IRReader/IRReader.h", "llvm/IR/Module.h", "llvm/Linker/Linker.h", "llvm/Support/SourceMgr.h"],
             "llvm::LLVMContext context; llvm::SMDiagnostic problem; auto one = llvm::parseIRFile(argv[0], problem, context);"
             "return !one || llvm::Linker::linkModules(*one, llvm::parseIRFile(argv[argc - 1], problem, context));"),
    "targets": ("", "all", ["llvm/Support/TargetSelect.h", "llvm/MC/TargetRegistry.h"],
                "llvm::InitializeAllTargets(); llvm::InitializeAllTargetMCs(); llvm::InitializeAllAsmPrinters();"
                "llvm::InitializeAllAsmParsers();"
                "std::string error; return argc > 1 && llvm::TargetRegistry::lookupTarget(argv[1], error) == nullptr;"),
    "x86": ("", "x86", ["llvm-c/Target.h"], "return LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter();"),
    "jit": ("", "orcjit native", ["llvm-c/LLJIT.h", "llvm-c/Target.h"],
            "LLVMInitializeNativeTarget(); LLVMOrcLLJITRef jit; return LLVMOrcCreateLLJIT(&jit, nullptr) != nullptr;"),
    "gpus": ("", "amdgpu nvptx passes", ["llvm-c/Target.h", "llvm-c/Transforms/PassBuilder.h"],
             "LLVMInitializeAMDGPUTarget(); LLVMInitializeNVPTXTarget(); return LLVMRunPasses(nullptr, argv[0], nullptr, nullptr) != nullptr;"),
}
# No header says that, and Debian's archives refer to Polly, which they do not hold.
DECLARED = {"tidy": "namespace clang { namespace tidy { int clangTidyMain(int, const char **); } }\n",
            "codegen": "llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }\n"}


def missing():
    """What is not installed; None: nothing."""
    if shutil.which("llvm-config-14") is None or not os.path.exists("/usr/lib/llvm-14/lib/libclangTidyMain.a"):
        return "llvm-14-dev and libclang-14-dev"
    return None if shutil.which("g++") else "g++"


def say(*words):
    done = subprocess.run(["llvm-config-14", *words], stdout=subprocess.PIPE, text=True, check=True)
    return " ".join(word for word in done.stdout.split() if not word.startswith("-lPolly"))


def write(folder):
    """The sources, and the text of the build: o0 .. are compiles, l0 .. links."""
    text = "rule cc\n  command = g++ %s -O0 -c $in -o $out\n" % say("--cxxflags")
    text += "rule link\n  command = g++ $in -o $out $libs\n"
    for number, (name, (clang, llvm, headers, body)) in enumerate(TOOLS.items()):
        source = "".join("#include <%s>\n" % header for header in headers)
        source += DECLARED.get(name, "")
        with open(os.path.join(folder, name + ".cpp"), "w", encoding="utf-8") as file:
            file.write(source + "int main(int argc, char **argv)\n{\n    (void)argc, (void)argv;\n")
            file.write("    %s\n}\n" % body.replace(";", ";\n    ").rstrip())
        libraries = " ".join("-lclang" + library for library in clang.split())
        libraries = "-Wl,--start-group %s -Wl,--end-group " % libraries if clang else ""
        libraries += say("--link-static", "--ldflags", "--libs", *llvm.split(), "--system-libs")
        text += "build o%d: cc %s.cpp\nbuild l%d: link o%d\n  libs = %s\n" % (number, name, number, number, libraries)
    return text
