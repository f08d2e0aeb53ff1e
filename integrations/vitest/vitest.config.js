export default { test: { include: ['test/**/*.test.js'], testTimeout: 60_000 } }
