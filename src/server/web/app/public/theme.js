// Before the first paint, so that nothing flashes: sets the theme chosen on this device. A separate file, for the CSP.
try {
  const theme = localStorage.getItem("kb-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser without storage follows the system.
}
