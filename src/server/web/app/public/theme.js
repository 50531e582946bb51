// Before the first paint, so that nothing flashes: the theme that was chosen on this device. A file of its own, for the CSP.
try {
  const theme = localStorage.getItem("kb-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing follows the system.
}
