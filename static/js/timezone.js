// Proposes the browser's time zone to a member who has not chosen one yet.
export default function timezone(select) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...select.options].some((option) => option.value === zone)) select.value = zone;
}
