/** The same object with some members replaced. Methods keep their original `this`, also in classes. */
export function overriding<T extends object>(target: T, replaced: Partial<T>): T {
  return new Proxy(target, {
    get(_, property) {
      const source = Object.hasOwn(replaced, property) ? replaced : target
      const value = Reflect.get(source, property, source) as unknown
      return typeof value === 'function' ? value.bind(source) : value
    },
  })
}
