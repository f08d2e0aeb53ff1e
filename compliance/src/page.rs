pub(crate) const _PAGE: () = ();
