"""The C++ of the pages as programs: what is shown is what is compiled and run."""

import re

INCLUDE = re.compile(r"^\s*#\s*include\b.*$", re.M)
MARKERS = {"declarations", "continued", "throws"}

HEAD = """// Made from {page} by tools/check_docs.py. Change the page, not this file.
#include <xsigma/profiler/profiler.h>

#include <cstdio>
#include <exception>
#include <filesystem>
{includes}

using namespace xsigma::profiler;

namespace {{

int failures = 0;

void fail(const char* place, const char* what) {{
  ++failures;
  std::printf("%s: %s\\n", place, what);
}}

// In an empty folder of its own; afterwards nothing may be left on.
template <typename Fragment>
void runFragment(const char* place, bool must_throw, Fragment fragment) {{
  const std::filesystem::path home = std::filesystem::current_path();
  const std::filesystem::path folder = home / "scratch";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::filesystem::current_path(folder);
  bool threw = false;
  try {{
    fragment();
  }} catch (const ProfilerError& error) {{
    threw = true;
    if (!must_throw) fail(place, error.what());
  }} catch (const std::exception& error) {{
    fail(place, error.what());
  }}
  if (must_throw && !threw) fail(place, "was to throw ProfilerError, and did not");
  if (profilerEnabled()) fail(place, "leaves the profiler on");
  if (hasCallbacks()) fail(place, "leaves callbacks behind");
  std::filesystem::current_path(home);
}}

}}  // namespace
"""


class BadBlock(Exception):
    pass


def _without_includes(text, includes):
    includes += [found.strip() for found in INCLUDE.findall(text)]
    return INCLUDE.sub("", text)


def _body(block, place, includes):
    checks = "".join(f'\n#line {line} "{place}"\n  if (!({check})) fail("{place}:{line}", "not so: " R"~({check})~");' for line, check in block.checks)
    return f'#line {block.line} "{place}"\n{_without_includes(block.text, includes)}{checks}\n'


def fragments_program(place, blocks):
    """One program of all fragments of a page, or None if it has none."""
    includes, declared, functions, calls = [], [], [], []
    for block in blocks:
        unknown = set(block.markers) - MARKERS
        if unknown:
            raise BadBlock(f"{place}:{block.line - 1}: a cpp block may be marked {', '.join(sorted(MARKERS))}, not {', '.join(sorted(unknown))}")
        body = _body(block, place, includes)
        if "declarations" in block.markers:
            declared.append(body)
            functions.append("")
            calls.append("")
        elif "continued" in block.markers:
            earlier = max((i for i, call in enumerate(calls) if call), default=None)
            if earlier is None:
                raise BadBlock(f"{place}:{block.line - 1}: continues nothing")
            functions[earlier] = functions[earlier][: -len("}\n}\n")] + body + "}\n}\n"
        else:
            name = f"fragment_at_{block.line}"
            prelude = _without_includes(block.prelude, includes)
            functions.append(f"namespace {name} {{\n{prelude}\nvoid run() {{\n{body}}}\n}}\n")
            must_throw = "true" if "throws" in block.markers else "false"
            calls.append(f'  runFragment("{place}:{block.line}", {must_throw}, {name}::run);\n')
    calls = [call for call in calls if call]
    if not calls and not declared:
        return None
    head = HEAD.format(page=place, includes="\n".join(sorted(set(includes))))
    return (f"{head}\nnamespace {{\n\n" + "\n".join(declared + [function for function in functions if function]) + "\n}  // namespace\n\n"
            f"int main() {{\n{''.join(calls)}  std::printf(\"{place}: %d fragments, %d failures\\n\", {len(calls)}, failures);\n"
            "  return failures == 0 ? 0 : 1;\n}\n")


def programs_of(page, place):
    """name -> source: <page> for the fragments, <page>_program_<n> for each block with a main of its own."""
    stem = page.path.stem.lower()
    programs, fragments = {}, []
    for block in (block for block in page.blocks if block.language == "cpp"):
        if re.search(r"\bint main\(", block.text):
            name = f"{stem}_program_{len(programs) + 1}"
            programs[name] = f'#line {block.line} "{place}"\n{block.text}\n'
        else:
            fragments.append(block)
    source = fragments_program(place, fragments)
    if source:
        programs[stem] = source
    return programs
