/**
 * A small run through the installed package, shared by the ES module and the CommonJS smoke script.
 * `modules` holds each entry by its key in "exports": modules['.'], modules['./sqlite'], …
 */
export async function useThePackage(modules) {
  void modules
}
